package compare

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"dlbench/results"
	"dlbench/results/encode"
)

// Text writes c for a terminal of that width, as encode.WriteText: a table for each suite
// with the first metric of each case, and others where they changed in another way; below
// them how many cases came out how, what only one side has, what differs between the
// machines, and notes.
func (c *Comparison) Text(w io.Writer, width int) error {
	return encode.WriteText(w, width, c.sections()...)
}

// Markdown writes what Text writes in GitHub's flavour of Markdown.
func (c *Comparison) Markdown(w io.Writer) error {
	return encode.WriteMarkdown(w, c.sections()...)
}

// sections are all that is to be said; the answer is the last.
func (c *Comparison) sections() []encode.Table {
	ts := append([]encode.Table{encode.Section("", c.title())}, c.Tables()...)
	return append(ts, encode.Section("Compared", c.lines()...), encode.Section("", c.Answer))
}

// title is "b and c against a".
func (c *Comparison) title() string {
	var others []string
	for _, s := range c.Sides[1:] {
		others = append(others, results.Plain(s.Label))
	}
	return strings.Join(others, ", ") + " against " + results.Plain(c.Sides[0].Label)
}

// verdictOrder is the order in which verdicts are counted.
var verdictOrder = []string{
	Better, Worse, Same, Differs, results.Inconclusive,
	BetterAssumed, WorseAssumed, SameAssumed, DiffersAssumed, NotCompared,
}

// counts says for each other side how its cases came out, by their first metric, and
// how their further metrics did.
func (c *Comparison) counts() (lines []string) {
	for k, side := range c.Sides[1:] {
		var first, further []string
		for _, cc := range c.Cases {
			for i, m := range cc.Metrics {
				switch verdict := m.Sides[k+1].Verdict; {
				case verdict == "":
				case i == 0:
					first = append(first, verdict)
				default:
					further = append(further, verdict)
				}
			}
		}
		text := side.Label + ": " + counted("case", first)
		if len(further) > 0 {
			text += "; " + counted("further metric", further) + " (csv and json have all)"
		}
		lines = append(lines, text)
	}
	var idle []string
	for _, cc := range c.Cases {
		if !cc.ran() {
			idle = append(idle, cc.Sides[0].Name)
		}
	}
	if len(idle) > 0 {
		lines = append(lines, "failed or skipped everywhere: "+some(idle))
	}
	return lines
}

// counted is "3 cases: 1 better; 2 same" of the verdicts on what noun says.
func counted(noun string, verdicts []string) string {
	n := map[string]int{}
	for _, v := range verdicts {
		n[v]++
	}
	var parts []string
	for _, v := range verdictOrder {
		if n[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[v], inWords(v)))
		}
	}
	return results.Join(": ", results.Plural(len(verdicts), noun), strings.Join(parts, "; "))
}

// inWords is a verdict for people: its name in reports says assumed.
func inWords(verdict string) string { return strings.Replace(verdict, "assumed", "simulated", 1) }

func (c *Comparison) unpairedText() (lines []string) {
	add := func(label, other string, names []string) {
		if len(names) > 0 {
			lines = append(lines, fmt.Sprintf("in %s, not in %s: %s", label, other, some(names)))
		}
	}
	for _, u := range c.Unpaired {
		base := c.Sides[0].Label
		add(base, u.Label, u.Base)
		add(u.Label, base, u.Other)
		if u.Reason != "" {
			lines = append(lines, u.Reason)
		}
	}
	return lines
}

// some is the number of names, and the names when they are few.
func some(names []string) string {
	text := results.Plural(len(names), "case")
	if len(names) <= shown {
		text += ": " + strings.Join(names, ", ")
	}
	return text
}

func (c *Comparison) differencesText() (lines []string) {
	for _, d := range c.Differences {
		var parts []string
		for i, v := range d.Values {
			parts = append(parts, c.Sides[i].Label+" "+cmp.Or(v, results.Unknown))
		}
		lines = append(lines, "differs: "+d.What+": "+strings.Join(parts, ", "))
	}
	return lines
}

// What a reader must know to trust the verdicts.
var (
	noteOneRun = "single runs are compared: how much runs differ from each other is not in their intervals, " +
		"so better and worse take " + results.FormatExact(MarginOneRun, results.Ratio) +
		"; use run --repeat 5, or give several reports one label"
	noteFewRuns = "fewer than 5 runs on each side are too few to test runs against runs: " +
		"their samples are tested, and the interval over runs is wide"
	noteSimulated = "simulated values are compared without a test"
)

// notes are those that hold of any of what was compared.
func (c *Comparison) notes() []string {
	holds := map[string]bool{}
	for _, cc := range c.Cases {
		for _, m := range cc.Metrics {
			base := m.Sides[0].Estimate
			for _, s := range m.Sides[1:] {
				switch {
				case strings.HasSuffix(s.Verdict, ", assumed"):
					holds[noteSimulated] = true
				case s.RatioLo == nil || base.N == 0 || s.N == 0:
				case base.Runs <= 1 && s.Runs <= 1:
					holds[noteOneRun] = true
				case !reaches(base.Runs, s.Runs):
					holds[noteFewRuns] = true
				}
			}
		}
	}
	notes := slices.DeleteFunc([]string{noteOneRun, noteFewRuns, noteSimulated},
		func(note string) bool { return !holds[note] })
	for _, s := range c.Sides {
		if s.Status == results.Interrupted {
			notes = append(notes, s.Label+" was interrupted: it has only the cases that were finished")
		}
	}
	return notes
}

// Lines is what Text says below the tables, a sentence each.
func (c *Comparison) Lines() []string { return append([]string{c.Answer}, c.lines()...) }

func (c *Comparison) lines() (all []string) {
	for _, line := range slices.Concat(c.counts(), c.unpairedText(), c.differencesText(), c.Notes, []string{c.Method}) {
		all = append(all, results.Plain(line))
	}
	return all
}

// JSON writes c as indented JSON that ends with a newline.
func (c *Comparison) JSON(w io.Writer) error {
	return results.EncodeJSON(w, c, "\t")
}

var csvHead = []string{
	"suite", "base", "label", "base_name", "name", "assumed", "metric", "unit", "better",
	"base_median", "base_lo", "base_hi", "base_n", "base_runs", "median", "lo", "hi", "n", "runs",
	"ratio", "ratio_lo", "ratio_hi", "p", "verdict", "reason", "pairs",
}

// CSV writes a row for each metric of each case and other side, in base units,
// and one for each case that cannot be compared, with "missing" or its status as the
// verdict.
func (c *Comparison) CSV(w io.Writer) error {
	t := encode.NewTable("", csvHead...)
	record := func(suite, label string, a, b CaseSide, rest ...string) {
		t.Row(append([]string{suite, c.Sides[0].Label, label, a.Name, b.Name, strings.Join(a.Assumed, " ")}, rest...)...)
	}
	alone := func(verdict, reason string) []string {
		return append(make([]string, len(csvHead)-9), verdict, reason)
	}
	for _, cc := range c.Cases {
		for k := 1; k < len(c.Sides); k++ {
			a, b, label := cc.Sides[0], cc.Sides[k], c.Sides[k].Label
			switch {
			case b.Name == "":
			case a.Status != results.OK || b.Status != results.OK:
				why := results.Join("; ", results.AppendNew(nil, a.Reason, b.Reason)...) // both may say the same
				record(cc.Suite, label, a, b, alone(line{Case: &cc, side: k}.verdict(), why)...)
			default:
				for _, m := range cc.Metrics {
					record(cc.Suite, label, a, b, m.cells(k)...)
				}
			}
		}
	}
	for _, u := range c.Unpaired {
		for _, name := range u.Base {
			suite, _, _ := strings.Cut(name, "/")
			record(suite, u.Label, CaseSide{Name: name}, CaseSide{}, alone("missing", u.Reason)...)
		}
		for _, name := range u.Other {
			suite, _, _ := strings.Cut(name, "/")
			record(suite, u.Label, CaseSide{}, CaseSide{Name: name}, alone("missing in base", u.Reason)...)
		}
	}
	return t.CSV(w)
}

// cells are those of the k-th side from the metric on.
func (m *Metric) cells(k int) []string {
	number := func(x *float64, digits int) string {
		if x == nil {
			return ""
		}
		return strconv.FormatFloat(*x, 'g', digits, 64)
	}
	estimate := func(e *Estimate) []string {
		if e == nil {
			return make([]string, 5)
		}
		interval := []string{number(&e.Median, -1), number(e.Lo, -1), number(e.Hi, -1)}
		return append(interval, strconv.Itoa(e.N), strconv.Itoa(e.Runs))
	}
	derived := func(x *float64) string { return number(x, 6) } // further digits differ from one processor to another
	s := m.Sides[k]
	return slices.Concat([]string{m.Name, m.Unit, m.Better}, estimate(m.Sides[0].Estimate), estimate(s.Estimate),
		[]string{derived(s.Ratio), derived(s.RatioLo), derived(s.RatioHi), derived(s.P)},
		[]string{s.Verdict, s.Reason, strconv.Itoa(s.Pairs)})
}
