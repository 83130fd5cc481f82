package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
	"dlbench/results/golden"
)

// text writes a point, its median and spread with four digits.
func (p point) text() string {
	s := fmt.Sprintf("%.4g", p.Median)
	if p.Spread != (span{}) {
		s += fmt.Sprintf(" %.4g-%.4g", p.Spread.Lo, p.Spread.Hi)
	}
	return s
}

// summary has the title of each picture but the first, and of it a line for each group or line, then for the levels.
func summary(pictures []picture) (all []string) {
	for i, p := range pictures {
		switch p := p.(type) {
		case bars:
			all = append(all, p.summary()...)
		case lines:
			if i > 0 || len(pictures) > 1 {
				all = append(all, p.title)
			}
			all = append(all, p.summary()...)
		}
	}
	return all
}

// summary has a line for each group: its references, and of each row its machine, name
// and value.
func (v bars) summary() (all []string) {
	for i, r := range v.Rows {
		if v.begins(i) {
			all = append(all, v.head(r)+":")
		}
		s := ""
		if v.several() {
			s += fmt.Sprintf(" %d", r.Machine)
		}
		if s += strings.TrimRight(" "+r.Detail, " ") + " " + r.Value; v.apart && r.Assumed != nil {
			s += " simulated"
		}
		for _, m := range r.Marks {
			s += fmt.Sprintf(" [%s %.4g]", strings.Fields(m.Text)[0], m.At)
		}
		all[len(all)-1] += s + ";"
	}
	return all
}

// summary has a line for each line: its number, name, first and last points, and where
// they are unproven; and one for the levels.
func (d lines) summary() (all []string) {
	for _, l := range d.Lines {
		s := fmt.Sprintf("%d %s: %d", l.Source, l.Name, len(l.Points))
		for _, p := range []point{l.Points[0], l.Points[len(l.Points)-1]} {
			if s += fmt.Sprintf("; %g %s", p.X, p.text()); len(p.Assumed) > 0 {
				s += " assumed"
			}
			if p.Unproven {
				s += " unproven"
			}
		}
		all = append(all, s)
	}
	var levels []string
	for _, l := range d.Levels {
		levels = append(levels, l.Name+" "+l.Value)
	}
	if levels == nil {
		return all
	}
	return append(all, strings.Join(levels, ", "))
}

// fleet is n machines that each have results of all suites; the third has a GPU, and
// the others' links are assumed.
func fleet(n int) []*results.Report {
	var all []*results.Report
	for i := range n {
		label := []string{"laptop", "workstation", "gpu-server", "cloud-small", "cloud-big", "old-desktop", "eGPU box",
			"a node with a very long name"}[i%8]
		sim, pipe := simReport(label), simPipeReport("")
		if i == 2 {
			sim, pipe = gpuReport(label, 1, "gen5x16"), gpuPipeReport("")
		}
		disk, cpu := nvmeReport(""), preprocessReport("", []machine{workstation, notebook, server}[i%3])
		sim.Host.Disks, sim.Host.CPU = disk.Host.Disks, cpu.Host.CPU
		sim.Results = slices.Concat(sim.Results, disk.Results, cpu.Results, pipe.Results)
		all = append(all, sim)
	}
	return all
}

func compare(t *testing.T, have, want []string) {
	t.Helper()
	for i := range max(len(have), len(want)) {
		switch {
		case i >= len(want):
			t.Errorf("%d: %s; want no more", i, have[i])
		case i >= len(have):
			t.Errorf("%d: nothing; want %s", i, want[i])
		case have[i] != want[i]:
			t.Errorf("%d: %s\nwant %s", i, have[i], want[i])
		}
	}
}

// TestData compares what charts show with a file of testdata that somebody looked at.
func TestData(t *testing.T) {
	swept := gpuReport("", 2, "gen4x16")
	slices.Reverse(swept.Results) // sizes need not come in order
	ofTwoCores := verdictReport("", "link")
	for n := range int64(2) {
		ofTwoCores.Results = append(ofTwoCores.Results,
			preprocessResult("online", "turbo", n+1, 700*float64(n+1), [4]float64{}))
	}
	oneOf := []*results.Report{simReport("laptop"), gpuReport("rig", 2, "gen4x16"), newReport("none")}
	var all []string
	for _, c := range []struct {
		name     string
		pictures []picture
	}{
		{"batch times", batchTimes(oneOf[:1])},
		{"batch times over GPUs", batchTimes(oneOf[1:2])},
		{"batch times of machines", batchTimes(oneOf)},
		{"sweeps", sweeps(one(swept))},
		{"sweeps of machines", sweeps(machinesOfLinks())},
		{"disk times", diskTimes(bothDisks())},
		{"disk times of machines", diskTimes(machinesOfDisks())},
		{"disk readers", diskReaders(one(nvmeReport("")))},
		{"disk readers of machines", diskReaders(machinesOfDisks())},
		{"disk latencies", diskLatencies(one(nvmeReport("")))},
		{"step times", stepTimes(one(simPipeReport("")))},
		{"step times of machines", stepTimes(pipeOfMachines(7))},
		{"feeds", feeds(pipeOfMachines(7))},
		{"feeds of workers", feeds(pipeOfMachines(15))},
		{"feeds past the cache", feeds(pastTheCache())},
		{"stage times", stageTimes(failed(preprocessReport("rig", workstation), 7))},
		{"stage times of machines", stageTimes(machinesOfDecoders())},
		{"scalings", scalings(one(preprocessReport("", smallHybrid)))},
		{"scalings of machines", scalings(machinesOfDecoders())},
		{"what-ifs", whatIfs(oddChanges())},
		{"what-ifs of machines", whatIfs([]*results.Report{verdictReport("a"), verdictReport("b")})},
		{"batch parts", batchParts(one(ofTwoCores))},
		{"batch parts of machines", batchParts([]*results.Report{verdictReport("a"), verdictReport("b", "link")})},
		{"predictions", predictions(one(verdictReport("")))}, // of what no simulator sets
		{"predictions of machines", predictions([]*results.Report{verdictReport("a"), verdictReport("b")})},
		{"loaders", loaders(one(loadersReport("")))},
		{"loaders of machines", loaders([]*results.Report{loadersReport("a"), loadersReport("b")})},
	} {
		all = append(append(all, "# "+c.name), summary(c.pictures)...)
	}
	golden.Check(t, "testdata/data.txt", []byte(strings.Join(all, "\n")+"\n"))
}

// one is a slice of the one report.
func one(r *results.Report) []*results.Report { return []*results.Report{r} }
