package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// text writes a point, its median and spread with four digits.
func (p point) text() string {
	s := fmt.Sprintf("%.4g", p.Median)
	if p.Spread != (span{}) {
		s += fmt.Sprintf(" %.4g-%.4g", p.Spread.Lo, p.Spread.Hi)
	}
	if p.Range {
		s += " range"
	}
	return s
}

// summary has a line for each group: its references, and of each row its machine, name
// and value.
func (v bars) summary() []string {
	var all []string
	for _, g := range v.Groups {
		s := simulatedTitle(g.Title, g.Assumed, false) + ":"
		for _, r := range g.Rows {
			if v.machines != nil {
				s += fmt.Sprintf(" %d", r.Machine)
			}
			s += strings.TrimRight(" "+r.Detail, " ") + " " + r.value()
			for _, m := range r.Marks {
				s += fmt.Sprintf(" [%s %.4g]", strings.Fields(m.Text)[0], m.At)
			}
			s += ";"
		}
		all = append(all, s)
	}
	return all
}

// summary has a line for each line: its number, name, first and last points, and where
// they are unproven; and one for the levels.
func (d lines) summary() []string {
	var all []string
	for _, l := range d.Lines {
		if l.Name == "" {
			continue
		}
		s := fmt.Sprintf("%d %s: %d", l.Source, l.Name, len(l.Points))
		for i, p := range l.Points {
			if i > 0 && i < len(l.Points)-1 {
				continue
			}
			s += fmt.Sprintf("; %g %s", p.X, p.text())
			if len(p.Assumed) > 0 {
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
		if l.Name != "" {
			levels = append(levels, l.Name+" "+l.Value)
		}
	}
	if levels == nil {
		return all
	}
	return append(all, strings.Join(levels, ", "))
}

// summaries are those of several charts, each after its title.
func summaries(all []lines) []string {
	var s []string
	for _, d := range all {
		s = append(append(s, d.title), d.summary()...)
	}
	return s
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

// TestData compares what charts show with files of testdata that somebody looked at.
func TestData(t *testing.T) {
	b := batches(one(simReport("")))[0]
	readers, latencies := diskReaders(machinesOfDisks()), diskLatencies(machinesOfDisks())
	swept := gpuReport("", 2, "gen4x16")
	slices.Reverse(swept.Results) // sizes need not come in order
	ofTwoCores := verdictReport("", "link")
	for n := range int64(2) {
		ofTwoCores.Results = append(ofTwoCores.Results,
			preprocessResult("online", "turbo", n+1, 700*float64(n+1), 0, [4]float64{}))
	}
	var demands []string
	for _, m := range allFeeds(one(gpuPipeReport("")))[0].Needs {
		demands = append(demands, m.Text)
	}
	for name, have := range map[string][]string{
		"batch-times":   batchTimes(one(simReport("laptop")), b).summary(),
		"batch-times-2": batchTimes(one(gpuReport("rig", 2, "gen4x16")), b).summary(),
		"batch-times-3": batchTimes([]*results.Report{simReport("laptop"), gpuReport("rig", 2, "gen4x16"),
			newReport("none")}, b).summary(),
		"sweeps":                summaries(sweeps(one(swept))),
		"sweeps-2":              summaries(sweeps(machinesOfLinks())[:1]),
		"disk-times":            diskTimes(bothDisks()).summary(),
		"disk-times-2":          diskTimesOf().summary(),
		"disk-readers":          summaries(diskReaders(one(nvmeReport("")))),
		"disk-readers-2":        summaries([]lines{readers[0], readers[1]}),
		"disk-latencies":        names(diskLatencies(one(nvmeReport("")))[0]),
		"disk-latencies-2":      slices.Concat(names(latencies[1]), names(latencies[3])),
		"step-times":            stepTimes(one(simPipeReport(""))).summary(),
		"step-times-2":          stepTimes(pipeOfMachines(7)).summary(),
		"feeds":                 demands,
		"feeds-2":               allFeeds(pipeOfMachines(7))[0].summary(),
		"feeds-of-workers":      allFeeds(pipeOfMachines(15))[0].summary(),
		"feeds-past-the-cache":  allFeeds(pastTheCache())[0].summary(),
		"stage-times":           stageTimes(failed(preprocessReport("rig", workstation), 7)).summary(),
		"stage-times-2":         stageTimes(machinesOfDecoders()).summary(),
		"preprocess-of-several": summaries(scalingLines(machinesOfDecoders())),
		"what-ifs":              whatIfs(oddChanges()).summary(),
		"what-ifs-of-several":   whatIfs([]*results.Report{verdictReport("a"), verdictReport("b")}).summary(),
		"batch-parts":           batchParts(one(ofTwoCores)).summary(),
		"batch-parts-2":         batchParts([]*results.Report{verdictReport("a"), verdictReport("b", "link")}).summary(),
		"loaders":               loaders(one(loadersReport(""))).summary(),
		"loaders-2":             loaders([]*results.Report{loadersReport("a"), loadersReport("b")}).summary(),
	} {
		golden(t, name, have)
	}
}

// golden compares lines with those of a file of testdata.
func golden(t *testing.T, name string, have []string) {
	t.Helper()
	want := fileOf(t, name+".txt", strings.Join(have, "\n")+"\n")
	compare(t, have, strings.Split(strings.TrimSuffix(want, "\n"), "\n"))
}

// fileOf is a file of testdata, which -update writes.
func fileOf(t *testing.T, name, have string) (want string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(have), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// one is a slice of the one report.
func one(r *results.Report) []*results.Report { return []*results.Report{r} }
