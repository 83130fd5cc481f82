package preprocess

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/results"
)

// claims compares thread counts, and judges how many cores a GPU needs and what their clock
// matters.
func claims(_ bench.Env, rs []results.Result) []bench.Claim {
	for _, line := range results.ScalingLines(rs) {
		compareThreads(line)
	}
	return []bench.Claim{
		{Name: "A7", Missing: "no images were prepared", Found: coresFinding(rs),
			Needs: bench.Needs(func(p params) bool { return p.Strategy == results.Online && p.Clock == 0 })},
		{Name: "A8", Missing: "throughput was measured at one clock only: as root and with cpufreq, " +
			"-a clock=GHZ,GHZ measures it at several; a CPU quota does not change it", Found: clockFinding(rs),
			Needs: bench.Needs(func(p params) bool { return p.Clock != 0 })},
	}
}

// compareThreads adds efficiency, gain, linear scaling and the fit to the results of a line.
func compareThreads(l *results.ScalingLine) {
	one := l.Rates[0]
	if one.Threads != 1 {
		return // nothing to compare with
	}
	first := l.First()
	for i, r := range l.Cases {
		r.References = append(r.References, results.Reference{Name: "linear", Metric: "throughput",
			Value: new(one.Value * float64(l.Rates[i].Threads)), Source: "one thread's rate times the threads"})
		for _, m := range []struct{ name, of string }{{"efficiency", "throughput"}, {"control_efficiency", "control"}} {
			if r.Metric(m.of) == nil || first.Metric(m.of) == nil {
				continue
			}
			share := theory.Share{Value: 1} // by definition
			if i > 0 {
				share = results.RateOf(r, m.of).Efficiency(results.RateOf(first, m.of))
			}
			addShare(r, m.name, share)
		}
		if gain, ok := l.Rates[i].Gain(l.Rates[max(0, i-1)], one); ok {
			addShare(r, "gain", gain)
		}
	}
	if s, ok := theory.FitScaling(l.Rates); ok {
		l.Cases[len(l.Cases)-1].Fit = results.RecordOf(results.NewFit(s))
	}
}

func addShare(r *results.Result, name string, s theory.Share) {
	m := results.Metric{Name: name, Unit: results.Ratio, Better: results.Higher,
		Median: s.Value, Min: s.Value, Max: s.Value}
	if s.Hi != 0 || s.Lo != 0 {
		m.Lo, m.Hi, m.Min, m.Max = new(s.Lo), new(s.Hi), s.Lo, s.Hi
	}
	at := slices.IndexFunc(r.Metrics, func(m results.Metric) bool { return m.Name == "cpu" }) // before where time goes
	if at < 0 {
		at = len(r.Metrics)
	}
	r.Metrics = slices.Insert(r.Metrics, at, m)
}

// articleCores is what the article asks for of the first strategy: 4 threads on 2
// cores for a GPU.
const articleCores = 2

// coresFinding is claim A7: whether as many cores as the article asks for prepare the images for
// its GPU, and how many each strategy needs for others.
func coresFinding(rs []results.Result) (f results.Finding) {
	var needs []string
	for _, of := range []struct{ strategy, what string }{
		{results.Online, "Threads needed to prepare images online"},
		{results.Offline, "Threads needed to read prepared tensors from memory"},
	} {
		if l := results.UsualLine(rs, of.strategy); l != nil {
			needs = append(needs, of.what+": "+theory.CoresForDemands(l.Rates))
		}
	}
	f.Text = strings.Join(needs, ". ")
	var best theory.Rate
	if l := results.UsualLine(rs, results.Online); l != nil {
		for _, r := range l.Rates {
			if r.Threads <= articleCores && r.Value > best.Value {
				best = r
			}
		}
	}
	if best.Threads == 0 {
		return f
	}
	demand := theory.Demands[0]
	rate := results.Interval{Value: best.Value, Lo: best.Lo, Hi: best.Hi}
	verdict := rate.Verdict(demand.Rate(), math.Inf(1))
	if verdict == results.Fails && best.Threads < articleCores {
		verdict = results.Inconclusive
	}
	text := fmt.Sprintf("%s prepared %.0f images/s (%.0f to %.0f), %s needs %.0f. ",
		results.Plural(best.Threads, "thread"), best.Value, best.Lo, best.Hi, demand.Name, demand.Rate())
	return rate.Finding(verdict, results.PerSecond, text+f.Text)
}

// Limits of A8: how much of a lower clock's share may show in the throughput for the
// clock to matter little, and from where it matters.
const (
	clockLittle = 0.25
	clockMuch   = 0.5
	clockLeast  = 0.1 // change of the clock that is enough to judge by
)

// clockFinding is claim A8: throughput against the clock.
func clockFinding(rs []results.Result) results.Finding {
	one := func(p params) bool { return p.Clock != 0 && p.Strategy == results.Online && p.Threads == 1 }
	cases := results.Cases(rs, "preprocess", one)
	cases = slices.DeleteFunc(cases, func(r *results.Result) bool { return r.Metric("throughput") == nil })
	slices.SortStableFunc(cases, func(a, b *results.Result) int { return cmp.Compare(clockOf(a), clockOf(b)) })
	var low, high float64
	if len(cases) > 0 {
		low, high = clockOf(cases[0]), clockOf(cases[len(cases)-1])
	}
	if low <= 0 || low > (1-clockLeast)*high {
		return results.Finding{}
	}
	fall := 1 - low/high
	slow, fast := results.RateOf(cases[0], "throughput"), results.RateOf(cases[len(cases)-1], "throughput")
	left := slow.Value / fast.Value
	share := results.Interval{Value: (1 - left) / fall,
		Lo: (1 - slow.Hi/fast.Lo) / fall, Hi: (1 - slow.Lo/fast.Hi) / fall}
	verdict := results.Inconclusive
	if share.Hi < clockLittle {
		verdict = results.Holds
	} else if share.Lo > clockMuch {
		verdict = results.Fails
	}
	return share.Finding(verdict, results.Ratio, fmt.Sprintf("with the clock at %.2f instead of %.2f GHz "+
		"(%.0f %% lower) one thread prepares %.0f instead of %.0f images/s (%.0f %% fewer)",
		low/1e9, high/1e9, 100*fall, slow.Value, fast.Value, 100*(1-left)))
}

// clockOf is the clock at which a case ran, as far as it could be read; else the one
// asked for, cycles/s.
func clockOf(r *results.Result) float64 {
	if hz := results.As[results.PreprocessProof](r.Proof).ClockAfter; hz > 0 {
		return hz
	}
	return 1e9 * results.As[params](r.Params).Clock
}
