package results

import (
	"math"
	"slices"
)

// Claim is a sentence of the articles, or a question of ours that a suite answers.
type Claim struct {
	ID, Title string
	Sentence  string // of the article, in short; "" for ours
	Suite     string // that judges it; "" where no measurement is needed
}

// Claims are those of the articles, in their order, and ours. What of them is arithmetic is
// done by dlbench theory.
var Claims = []Claim{
	{"A1", "batch time by lanes", "a batch takes 1.1, 2.3, 4.5 ms over 16, 8, 4 lanes, in practice twice that", "pcie"},
	{"A2", "lanes, copies not overlapped", "16 lanes instead of 4 gain 3.2 %", "pipeline"},
	{"A3", "lanes, copies overlapped", "with pinned memory and an asynchronous loader more lanes gain 0 %", "pipeline"},
	{"A4", "pageable copies and the CPU", "pageable copies go through the CPU, pinned ones do not", "pcie"},
	{"A5", "memory against the GPU's", "have as much RAM as the largest GPU has memory", "pipeline"},
	{"A6", "several GPUs", "lanes do not matter up to 3 GPUs; 4 want 8 lanes each", "pcie"},
	{"A7", "cores for preprocessing", "2 cores a GPU prepare images in time, 1 loads prepared ones", "preprocess"},
	{"A8", "CPU clock", "the clock matters little", "preprocess"},
	{"A9", "loading ahead from disk", "a batch from a 100 MB/s disk takes 185 ms; loading ahead hides it", "disk"},
	{"A10", "solid-state disks", "SATA3 gives 600 MB/s, M.2 3.4 GB/s; an SSD is for comfort", "disk"},
	{"A11", "power supply", "1.1 x (CPU + all GPUs): 1250 W for 4 GPUs, buy 1400 W", ""},
	{"A12", "energy", "two weeks at 1000 to 1500 W take 300 to 500 kWh", ""},
	{"A13", "throttling", "from 80 C GPUs throttle: one loses up to 10 %, adjacent ones 10 to 25 %", "pipeline"},
	{"A14", "GPU memory by use", "11 GB for the state of the art, 8 GB for most else", ""},
	{"A15", "latency", "the latency of PCIe can be ignored", "pcie"},
	{"A16", "a busy CPU", "a CPU at 100 % in training mostly waits", "pipeline"},
	{"A17", "16 bits", "16 bits halve the memory", "pcie"},
	{"B1", "the price of a machine", "3000 USD with one GPU, 700 for each further one; 1 to 2 kW", ""},
	{"B2", "the price of renting", "3 USD an hour, 65 % for one year, 40 % for three", ""},
	{"B3", "owning against renting", "owning is 4 to 10 times cheaper with one GPU, 9 to 21 with four", ""},
	{"B4", "what limits training", "a GPU of one's own beat a rented one whose loading was slow", "pipeline"},

	{"siblings", "GPUs of one model", "", "pcie"},
	{"numa", "memory far from the GPU", "", "pcie"},
	{"feeds", "what the loader feeds", "", "pipeline"},
	{"bound", "what each part costs the loader", "", "pipeline"},
}

// ClaimOf is the claim of that id, without a title where there is none.
func ClaimOf(id string) Claim {
	for _, c := range Claims {
		if c.ID == id {
			return c
		}
	}
	return Claim{ID: id}
}

// ClaimTitle is what a claim is about, "" for an unknown one.
func ClaimTitle(id string) string { return ClaimOf(id).Title }

// Silence is why r has no finding for c.
func (c Claim) Silence(r *Report) string {
	simulated := func(res Result) bool { return res.Suite == c.Suite && len(res.Assumed) > 0 }
	i := slices.IndexFunc(r.Results, simulated)
	switch {
	case c.Suite == "":
		return "needs no measurement: dlbench theory"
	case !slices.Contains(r.Config.Suites, c.Suite):
		return "not measured: the suite " + c.Suite + " was not run"
	case r.Status == Interrupted:
		return "not measured: the run was interrupted"
	case i >= 0:
		return "not measured: with a simulated " + AssumedText(r.Results[i].Assumed) + " it would say nothing about hardware"
	}
	return "not measured: the suite " + c.Suite + " had no case for it"
}

// Interval is a value and the bounds between which it lies.
type Interval struct{ Value, Lo, Hi float64 }

// IntervalOf is a metric's median with its interval, or its extremes where it has none.
func IntervalOf(m *Metric) Interval {
	if m.Lo != nil && m.Hi != nil {
		return Interval{m.Median, *m.Lo, *m.Hi}
	}
	return Interval{m.Median, m.Min, m.Max}
}

// RatioOf is one metric over another, from the extremes of their intervals; NaN where
// one is missing.
func RatioOf(a, b *Metric) Interval {
	if a == nil || b == nil {
		return Interval{math.NaN(), math.NaN(), math.NaN()}
	}
	x, y := IntervalOf(a), IntervalOf(b)
	return Interval{x.Value / y.Value, x.Lo / y.Hi, x.Hi / y.Lo}
}

// Verdict judges a claim that holds when all of x lies between lo and hi, and fails when
// nothing of it does. What is not a number decides nothing.
func (x Interval) Verdict(lo, hi float64) string {
	switch {
	case x.Lo >= lo && x.Hi <= hi:
		return Holds
	case x.Hi < lo || x.Lo > hi:
		return Fails
	}
	return Inconclusive
}

// Finding is what x, a number of unit, says of a claim.
func (x Interval) Finding(verdict, unit, text string) Finding {
	return Finding{Verdict: verdict, Text: text, Unit: unit, Value: Finite(x.Value), Lo: Finite(x.Lo), Hi: Finite(x.Hi)}
}
