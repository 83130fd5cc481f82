package chart

import (
	"fmt"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

const articleBytes = 19_440_000

// newReport is a report of a machine, without results.
func newReport(label string) *results.Report {
	return &results.Report{
		SchemaVersion: results.SchemaVersion,
		Status:        results.Complete,
		Tool:          results.Tool{Name: "dlbench", Version: "v0.1.0"},
		Started:       time.Date(2026, 11, 30, 22, 15, 0, 0, time.FixedZone("", 3600)),
		Label:         label,
		Config:        results.Config{Batch: 32, Shape: []int{225, 225, 3}, DType: "float32"},
		Host:          results.Host{CPU: results.CPU{Model: "AMD EPYC 7B13"}},
	}
}

// caseOf is a result of a suite with those parameters. Those that go without saying are not
// in its name.
func caseOf(suite string, params ...any) results.Result {
	r := results.Result{Suite: suite, Status: results.OK}
	for i := 0; i < len(params); i += 2 {
		key := params[i].(string)
		implied := suite == "pcie" && (key == "dtype" || key == "source") || key == "order"
		r.Params = append(r.Params, results.Param{Key: key, Value: params[i+1], Implied: implied})
	}
	r.Name = r.Params.Name(suite)
	return r
}

// sampled is a metric with an interval from lo to hi times its median.
func sampled(name, unit string, v, lo, hi float64) results.Metric {
	return results.Metric{Name: name, Unit: unit, Median: v, Min: v * lo * 0.98, Max: v * hi * 1.1, Lo: new(v * lo),
		Hi: new(v * hi)}
}

// against is a reference of a metric.
func against(name, metric string, v float64) results.Reference {
	return results.Reference{Name: name, Metric: metric, Value: &v}
}

// demanded are the references of a loader.
func demanded() (all []results.Reference) {
	for _, d := range theory.Demands {
		all = append(all, against(results.DemandPrefix+d.Name, "throughput", d.Rate()))
	}
	return all
}

// copyOf is a result of suite pcie: bytes at rate bytes per second, with the
// references that its link has.
func copyOf(device, dir, mem, link string, bytes int64, rate float64) results.Result {
	r := caseOf("pcie", "device", device, "dir", dir, "mem", mem, "dtype", "float32", "source", "warm", "bytes", bytes)
	t := float64(bytes) / rate
	r.Metrics = []results.Metric{sampled("time", results.Seconds, t, 0.985, 1.02),
		sampled("bandwidth", results.BytesPerSecond, rate, 1/1.02, 1/0.985)}
	l, err := theory.ParseLink(link)
	if err != nil {
		return r
	}
	r.Proof = results.RecordOf(map[string]any{"link": link})
	r.References = append(r.References, against("line-rate", "bandwidth", l.LineRate()),
		against("line-rate", "time", float64(bytes)/l.LineRate()))
	if a, ok := theory.Article(theory.ArticleBatch, l); ok && bytes == articleBytes {
		r.References = append(r.References, against("article-theory", "time", a.Theory),
			against("article-practice", "time", a.Practice))
	}
	return r
}

// simReport is a machine without a GPU: three assumed links and main memory.
func simReport(label string) *results.Report {
	rep := newReport(label)
	for _, link := range []string{"gen3x4", "gen3x8", "gen3x16"} {
		l, _ := theory.ParseLink(link)
		for _, m := range []struct {
			mem   string
			share float64
		}{{"pageable", theory.AssumedPageable}, {"staged", 0.52}, {"pinned", theory.AssumedPinned}} {
			rep.Results = append(rep.Results,
				standIn(copyOf("sim:"+link, "h2d", m.mem, link, articleBytes, m.share*l.LineRate()), "link"))
		}
	}
	rep.Results = append(rep.Results,
		copyOf("host", "h2h", "pageable", "", articleBytes, 9.8e9),
		standIn(copyOf("sim:gen3x16", "d2h", "pinned", "gen3x16", articleBytes, 12e9), "link"))
	return rep
}

// gpuReport is a machine with n GPUs over one link, and a sweep of sizes.
func gpuReport(label string, n int, link string) *results.Report {
	rep := newReport(label)
	l, _ := theory.ParseLink(link)
	for i := range n {
		rep.Host.GPUs = append(rep.Host.GPUs, results.GPU{Index: new(i), Name: fmt.Sprintf("Fake GPU %d", i)})
		device := fmt.Sprintf("cuda:%d", i)
		for _, m := range []struct {
			mem   string
			share float64
		}{{"pinned", 0.80}, {"registered", 0.78}, {"staged", 0.50}, {"pageable", 0.42}} {
			peak := m.share * l.LineRate() * (1 - 0.04*float64(i))
			rep.Results = append(rep.Results, copyOf(device, "h2d", m.mem, link, articleBytes, peak))
			if m.mem == "registered" || m.mem == "staged" {
				continue
			}
			for size := int64(4 << 10); size <= 64<<20; size *= 2 {
				start := 6e-6 // of a copy
				rep.Results = append(rep.Results,
					copyOf(device, "h2d", m.mem, link, size, float64(size)/(start+float64(size)/peak)))
			}
		}
	}
	rep.Results = append(rep.Results, copyOf("host", "h2h", "pageable", "", articleBytes, 11.2e9))
	return rep
}
