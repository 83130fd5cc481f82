package results

import (
	"cmp"
	"fmt"
	"strings"
)

// FlagThrottled marks samples that were taken while the GPU was throttled.
const FlagThrottled = "throttled"

// Throttled tells whether a sample is one of them.
func (s Sample) Throttled() bool { return s.flagged(FlagThrottled) }

// Range is the least and the greatest of several values.
type Range struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// Widen returns a range that holds v as well as what r holds; nil holds nothing.
func (r *Range) Widen(v float64) *Range {
	if r == nil {
		return &Range{v, v}
	}
	return &Range{min(r.Min, v), max(r.Max, v)}
}

// text is "SM clock 1410 to 1980 MHz" of values that are multiples of a unit, "" of none.
func (r *Range) text(name string, multiple float64, unit string) string {
	if r == nil {
		return ""
	}
	lo, hi := fmt.Sprintf("%.0f", r.Min/multiple), fmt.Sprintf("%.0f", r.Max/multiple)
	if lo != hi {
		lo += " to " + hi
	}
	return strings.TrimSpace(name + " " + lo + " " + unit)
}

// GPUWatch is what a GPU told of itself while a case was measured, nil of what it did not tell.
type GPUWatch struct {
	Readings    int      `json:"readings"`
	Throttled   int      `json:"throttled"`                  // of them
	From        *float64 `json:"throttled_from_c,omitempty"` // C, when it was throttled first
	Reasons     []string `json:"reasons,omitempty"`          // why clocks were lower than the highest
	Temperature *Range   `json:"temperature_c,omitempty"`
	Power       *Range   `json:"power_w,omitempty"`
	SMClock     *Range   `json:"sm_clock_hz,omitempty"`
	MemoryClock *Range   `json:"memory_clock_hz,omitempty"`
	LinkGen     *Range   `json:"link_gen,omitempty"` // the GPU's own link
	LinkWidth   *Range   `json:"link_width,omitempty"`
	Replays     *Range   `json:"link_replays,omitempty"` // since the driver was loaded
	CPU         float64  `json:"cpu,omitempty"`          // s, that reading took
	Lacks       string   `json:"lacks,omitempty"`        // what is not known, and why
}

// Watched is the part of a case's proof that says what its GPU told; nil without a GPU.
type Watched struct {
	GPU *GPUWatch `json:"gpu,omitempty"`
}

func (w *Watched) watched(g *GPUWatch) { w.GPU = g }

// Watch puts what a GPU told into the proof of r, if that has room for it.
func (r *Result) Watch(g *GPUWatch) {
	if p, ok := r.Proof.value.(interface{ watched(*GPUWatch) }); ok {
		p.watched(g)
	}
}

// Ranges are those of g, in their order.
func (g *GPUWatch) Ranges() []**Range {
	return []**Range{&g.Temperature, &g.Power, &g.SMClock, &g.MemoryClock, &g.LinkGen, &g.LinkWidth, &g.Replays}
}

// String is a sentence.
func (g *GPUWatch) String() string {
	throttled := fmt.Sprintf("throttled in %d of %s, which took %s of CPU time", g.Throttled,
		Plural(g.Readings, "reading"), FormatSeconds(g.CPU))
	return List(g.Temperature.text("", 1, "C"), g.Power.text("", 1, "W"), g.SMClock.text("SM clock", 1e6, "MHz"),
		g.MemoryClock.text("memory clock", 1e6, "MHz"), g.LinkGen.text("link of generation", 1, ""),
		g.LinkWidth.text("lanes", 1, ""), g.Replays.text("replays so far", 1, ""), known(g.Readings > 0, throttled),
		After("clocks lowered by ", InWords(g.Reasons)), After("not known: ", g.Lacks))
}

// add takes in what was told while another case was measured.
func (g *GPUWatch) add(o *GPUWatch) {
	g.Readings, g.Throttled, g.CPU = g.Readings+o.Readings, g.Throttled+o.Throttled, g.CPU+o.CPU
	g.Reasons = AppendNew(g.Reasons, o.Reasons...)
	g.Lacks = cmp.Or(g.Lacks, o.Lacks)
	ours := g.Ranges()
	for i, r := range o.Ranges() {
		if *r != nil {
			*ours[i] = (*ours[i]).Widen((*r).Min).Widen((*r).Max)
		}
	}
}

// Watches says what the GPUs of cases told, a sentence for each in the order of the cases.
func Watches(cases []*Result) (told []string) {
	for _, of := range Grouped(cases, func(r *Result) string { return r.Params.Text("device") }) {
		all := &GPUWatch{}
		for _, r := range of {
			all.add(cmp.Or(As[Watched](r.Proof).GPU, &GPUWatch{}))
		}
		if text := all.String(); text != "" {
			told = append(told, of[0].Params.Text("device")+" while it was measured: "+text)
		}
	}
	return told
}
