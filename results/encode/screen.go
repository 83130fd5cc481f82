package encode

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"dlbench/bench/theory"
	"dlbench/results"
)

// Width and height of the first screen, in columns and lines, and how many changes it shows.
const (
	screenWidth = 80
	screenLines = 30
	mostChanges = 6
)

// Screen writes the answer of a report on one screen: what the loader feeds, what is needed,
// where the time of a batch goes and what would help. With bold, the answer is in bold type.
func Screen(w io.Writer, r *results.Report, bold bool) error {
	s := &screen{report: r, verdict: cmp.Or(r.Verdict, &results.Verdict{Answer: results.AnswerNone})}
	s.line("%s", s.machine())
	s.line("")
	s.answer(bold)
	s.rates()
	s.parts()
	head := "to feed more"
	if s.verdict.Needs != nil {
		head = fmt.Sprintf("to reach %.0f", *s.verdict.Needs)
	}
	if all := s.verdict.Changes; s.verdict.Answer != results.AnswerBusy {
		s.changes(head, all[:min(len(all), mostChanges)])
	}
	if r.Status == results.Interrupted {
		s.line("interrupted: %s", r.CasesFinished())
	}
	return s.write(w, screenLines-2) // the caller adds where the report is
}

// screen is the first screen in the making.
type screen struct {
	report  *results.Report
	verdict *results.Verdict
	about   string // whose loader it is, where that has to be said
	lines   []string
}

// write writes at most so many lines.
func (s *screen) write(w io.Writer, most int) error {
	if n := len(s.lines); n > 0 && s.lines[n-1] == "" { // the caller leaves a line
		s.lines = s.lines[:n-1]
	}
	_, err := io.WriteString(w, strings.Join(s.lines[:min(most, len(s.lines))], "\n")+"\n")
	return err
}

// line adds a line, cut to the width.
func (s *screen) line(format string, args ...any) {
	text := results.Clip(results.Plain(fmt.Sprintf(format, args...)), screenWidth)
	s.lines = append(s.lines, strings.TrimRight(text, " "))
}

// paragraph adds a text in as many lines as it takes, indented.
func (s *screen) paragraph(indent int, text string) {
	for _, l := range wrapped(text, screenWidth-indent) {
		s.line("%*s%s", indent, "", l)
	}
}

// machine is "dlbench 0.2 | AMD EPYC, 2 cores | no GPU | 640 synthetic JPEGs | quiet".
func (s *screen) machine() string {
	r := s.report
	cpu, gpu, data, quietness := results.Plain(cmp.Or(shortModel(r.Host.CPU.Model), "CPU")), r.Host.GPUTitle(), "", ""
	if d := r.Dataset; d != nil {
		kind := "images"
		if d.Seed != 0 {
			kind = "synthetic JPEGs"
		}
		data = fmt.Sprintf("%d %s%s", d.Images, kind, results.After(" from ", results.Plain(d.From)))
		if d.LeftOut > 0 {
			data += fmt.Sprintf(", %d left out", d.LeftOut)
		}
	}
	if r.Tool.Name != results.PythonTool { // which does not look for other programs
		quietness = quiet(r)
	}
	line := func() string {
		cores := fmt.Sprintf("%s, %.4g cores", cpu, r.Host.CPU.Usable)
		return results.Join(" | ", r.Tool.Name+" "+r.Tool.Version, cores, gpu, data, quietness)
	}
	over := func() int { return utf8.RuneCountInString(line()) - screenWidth }
	if _, model, named := strings.Cut(cpu, " "); named && over() > 0 {
		cpu = model // without its maker
	}
	for _, part := range []*string{&cpu, &gpu, &data} { // long ones are cut, not the last words
		*part = results.Clip(*part, max(shortestPart, utf8.RuneCountInString(*part)-over()))
	}
	return line()
}

// shortestPart is how many columns of a processor's name, and of others, stay.
const shortestPart = 6

// shortModel is a processor's name without trade marks and clock.
func shortModel(model string) string {
	model, _, _ = strings.Cut(model, " @")
	for _, s := range []string{"(R)", "(TM)", "(r)", "(tm)", " Processor", " CPU"} {
		model = strings.ReplaceAll(model, s, "")
	}
	words := slices.DeleteFunc(strings.Fields(model), func(w string) bool { return strings.HasSuffix(w, "-Core") })
	return strings.Join(words, " ")
}

// quiet says how much of what was measured was measured while other programs ran.
func quiet(r *results.Report) string {
	var all []results.Sample
	for _, res := range r.Results {
		if len(res.Metrics) > 0 {
			all = append(all, res.Metrics[0].Samples...)
		}
	}
	if r.Verdict != nil && r.Verdict.Answer == results.AnswerBusy {
		return "busy"
	}
	text := "noisy"
	switch share := results.NoisyShare(all); {
	case share < 0.1:
		text = "quiet"
	case share < 1.0/3:
		text = "mostly quiet"
	}
	if results.FlaggedShare(all, results.FlagThrottled) >= 0.1 {
		text += ", GPU throttled"
	}
	return text
}

// answer is the line that answers the question.
func (s *screen) answer(bold bool) {
	v := s.verdict
	if v.Answer == results.AnswerNone {
		return
	}
	text := s.about + v.Why
	if v.Feeds != nil && v.Needs != nil {
		loader := v.Loader
		if loader == results.OwnLoader {
			loader = "dlbench's own fast loader"
		}
		feeds, needs := *v.Feeds, *v.Needs
		switch v.Answer {
		case results.AnswerNo, results.AnswerYes:
			text = fmt.Sprintf("%.0f of %.0f images/s (%.0f %%), with %s", feeds, needs, 100*feeds/needs, loader)
		case results.AnswerEnoughCores:
			text = fmt.Sprintf("dlbench feeds %.0f, %.0f are needed: yours must reach %.0f %% of that", feeds, needs,
				100*needs/feeds)
		case results.AnswerClose:
			text = fmt.Sprintf("%.0f images/s are needed, %s", needs, v.Why)
		}
	}
	title, first := v.Title(), len(s.lines)
	for i, l := range wrapped(text, screenWidth-len(title)-5) {
		if i == 0 {
			s.line("  %s   %s", title, l)
		} else {
			s.line("  %*s   %s", len(title), "", l)
		}
	}
	if bold {
		s.lines[first] = strings.Replace(s.lines[first], title, "\x1b[1m"+title+"\x1b[0m", 1)
	}
	s.line("")
}

// rates are what the loader feeds and what is needed.
func (s *screen) rates() {
	v, failed := s.verdict, s.failedLoader()
	if v.Feeds == nil {
		switch {
		case failed != "":
			s.rate("yours", "failed", "", failed)
		case v.Answer == results.AnswerNone && s.report.Status == results.Interrupted:
			s.line("  no answer: the run was interrupted")
		case v.Answer == results.AnswerNone:
			s.line("  no answer: neither pipeline nor --loader was measured; tables: show --full")
		}
		return
	}
	s.feedsAndNeeds()
	if v.GPUBusy != nil && v.Share == nil && v.Answer != results.AnswerEnoughCores {
		s.busy()
	}
	if failed != "" {
		s.rate("yours", "failed", "", failed)
	} else if v.Loader == results.OwnLoader {
		yours := "DIR --loader torchvision"
		if d := s.report.Dataset; d != nil && d.From == results.FromS3 {
			yours = "s3://... --loader mine='python3 my_loader.py'"
		}
		s.rate("yours", "?", "", "measure it: dlbench run "+yours)
	}
	for _, g := range s.report.Host.GPUs {
		if l := g.Link; l.Width > 0 && l.Width < l.MaxWidth {
			s.rate("link", "", "", fmt.Sprintf("%s has %d lanes of %d: a slot or riser is narrower than the card",
				cmp.Or(g.Name, g.PCI), l.Width, l.MaxWidth))
		}
	}
	if v.Needs == nil && v.Loader != results.ScriptLoader {
		s.line("")
		s.enoughFor()
	}
	s.line("")
}

// feedsAndNeeds are two lines; the third is about several GPUs.
func (s *screen) feedsAndNeeds() {
	v := s.verdict
	var how []string
	if v.FeedsLo != nil && v.FeedsHi != nil {
		lo, hi := around(*v.Feeds, *v.FeedsLo, *v.FeedsHi)
		how = append(how, fmt.Sprintf("%.0f to %.0f in %s", lo, hi, results.Plural(max(1, v.Runs), "run")))
	}
	workers := results.Plural(v.Workers, "worker")
	if len(results.ScalingOf(s.report.Results, v.Loader).Cases) > 1 {
		workers += " (the best number here)"
	}
	if v.Busy > 0 {
		workers += ", " + results.Plural(v.Busy, "training thread")
	}
	what := "feeds"
	if v.Loader == results.ScriptLoader {
		what = "rate"
		how = append([]string{"reached in training"}, how...)
	}
	s.rate(what, fmt.Sprintf("%.0f", *v.Feeds), "images/s", s.about+strings.Join(append(how, workers), "; "))
	switch {
	case v.Needs != nil:
		s.rate("needs", fmt.Sprintf("%.0f", *v.Needs), "images/s", v.NeedsFrom)
	case v.NeedsFrom != "":
		s.rate("needs", "?", "", v.NeedsFrom)
	}
	s.share()
}

// busy is how much of the time the GPU works; of a training script, which may have none, its steps.
func (s *screen) busy() {
	v := s.verdict
	share := fmt.Sprintf("%.0f", 100**v.GPUBusy)
	if v.Loader == results.ScriptLoader {
		s.rate("steps", share, "%", "of the time; the rest waits for data (measured)")
		return
	}
	would := "busy"
	if len(s.report.Host.GPUs) == 0 {
		would = "would be busy"
	}
	s.rate("GPU", share, "%", would+", "+cmp.Or(v.GPUBusyFrom, "if it waits for nothing else"))
}

// failedLoader is the first of the user's loaders of which no case could be measured, with its
// reason, as much as fits into two lines of a note; "" for none.
func (s *screen) failedLoader() string {
	measured := append(results.UserLoaders(s.report.Results), results.OwnLoader)
	for _, r := range s.report.Results {
		name := r.Params.Text("loader")
		if r.Suite != "external" || r.Status != results.Failed || slices.Contains(measured, name) {
			continue
		}
		reason, _, _ := strings.Cut(strings.TrimPrefix(r.Reason, "loader "+name+": "), "; its output: ")
		lines := wrapped(name+": "+reason, noteWidth)
		if len(lines) > 2 {
			lines = []string{lines[0], results.Clip(lines[1]+" "+lines[2], noteWidth)}
		}
		return strings.Join(lines, " ")
	}
	return ""
}

// noteWidth is the columns of a note behind a value.
const noteWidth = screenWidth - 26

// rate adds a value with its name, and a note in as many lines as it takes.
func (s *screen) rate(name, value, unit, note string) {
	for _, l := range wrapped(note, noteWidth) {
		s.line("  %-6s %6s %-8s  %s", name, value, unit, l)
		name, value, unit = "", "", ""
	}
}

// enoughFor is a short table of what a rate is enough for, where nothing is known to be
// needed.
func (s *screen) enoughFor() {
	v := s.verdict
	lo, hi := *cmp.Or(v.FeedsLo, v.Feeds), *cmp.Or(v.FeedsHi, v.Feeds)
	s.line("  enough for (one GPU)                         images/s")
	for _, g := range theory.GPUs {
		if !g.Emulated {
			s.line("    %-42s %8.0f   %s", g.Text(), g.Rate, results.Enough(lo, hi, g.Rate))
		}
	}
	s.line("    name yours: --gpu NAME, --need 2500/s or --step 216ms")
}

// around rounds bounds that lie far from each other, so that they do not look exact.
func around(x, lo, hi float64) (float64, float64) {
	if !(hi-lo > x/2) {
		return lo, hi
	}
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/2)))
	return step * math.Round(lo/step), step * math.Round(hi/step)
}

// barWidth is the columns of the longest bar.
const barWidth = 14

// parts show where the time of a batch goes.
func (s *screen) parts() {
	v := s.verdict
	if len(v.Parts) > 0 && v.Feeds != nil {
		longest := 0.0
		for _, p := range v.Parts {
			longest = max(longest, p.Time)
		}
		images := s.report.Config.Batch
		s.line("  a batch of %-4d %7.1f ms  its parts overlap", images, 1e3*float64(images) / *v.Feeds)
		for _, p := range v.Parts {
			bar := strings.Repeat("#", max(1, int(math.Round(barWidth*p.Time/longest))))
			note := p.Note
			if p.Name == v.Bottleneck {
				note = results.Join("; ", "bottleneck", note)
			}
			s.line("    %-12s %8.1f ms  %-*s  %s", p.Title(), 1e3*p.Time, barWidth, bar, note)
		}
	}
	if v.Limit != "" {
		s.paragraph(2, v.Limit)
	}
	if len(v.Parts) > 0 || v.Limit != "" {
		s.line("")
	}
}

// changes are what would help, a line each under a head, and what would not.
func (s *screen) changes(head string, changes []results.Change) {
	if len(changes) > 0 {
		width := 22 // of names
		for _, c := range changes {
			width = max(width, min(utf8.RuneCountInString(results.Plain(c.Name)), 40))
		}
		enough := 8 // the width of that column
		if s.verdict.Needs == nil {
			enough = 0
		}
		s.line("  %-*s %11s   %-*.*sevidence", width+2, head, "images/s", enough, enough, "enough")
		for _, c := range changes {
			lo, hi := around(c.Value, c.Lo, c.Hi)
			feeds := fmt.Sprintf("%.0f-%.0f", lo, hi)
			before := fmt.Sprintf("    %-*s %11s   %-*.*s", width, results.Plain(c.Name), feeds, enough, enough, c.Enough)
			columns := utf8.RuneCountInString(before)
			for _, l := range wrapped(c.Evidence, max(shortestPart, screenWidth-columns)) {
				s.line("%s%s", before, l)
				before = strings.Repeat(" ", columns)
			}
		}
	}
	if none := s.verdict.NoEffect; len(none) > 0 {
		s.paragraph(4, "no effect: "+strings.Join(none, ", "))
	}
}

// Headline is a suite's results in a line: "disk: 24 cases, time 4.0 ms to 190 ms".
func Headline(suite string, rs []results.Result) string {
	measured := slices.DeleteFunc(slices.Clone(rs), func(r results.Result) bool {
		return r.Status != results.OK || len(r.Metrics) == 0 || r.Metrics[0].Missing()
	})
	text := suite + ": " + results.Plural(len(measured), "case")
	if len(measured) > 0 {
		first := measured[0].Metrics[0]
		lo, hi := first.Median, first.Median
		for _, r := range measured {
			if m := r.Metric(first.Name); m != nil {
				lo, hi = min(lo, m.Median), max(hi, m.Median)
			}
		}
		text += fmt.Sprintf(", %s %s", strings.ReplaceAll(first.Name, "_", " "),
			results.FormatRange(lo, hi, first.DisplayUnit()))
	}
	if other := len(rs) - len(measured); other > 0 {
		text += fmt.Sprintf("; %d skipped or failed", other)
	}
	return text
}

// WhatIf writes what changes would bring, in the first screen's words: a table of those that
// change something, and a sentence for each other one.
func WhatIf(w io.Writer, r *results.Report, v *results.Verdict) error {
	s := &screen{report: r, verdict: v}
	if names := results.UserLoaders(r.Results); len(names) > 0 {
		s.about = "dlbench's own loader, not " + strings.Join(names, " or ") + ": "
	}
	s.line("%s", s.machine())
	s.line("")
	if v.Answer == results.AnswerBusy { // it holds for all that follows
		s.answer(false)
	}
	s.feedsAndNeeds()
	s.line("")
	s.changes("would feed", v.Changes)
	var notes []string
	for _, c := range v.Changes {
		if c.Note != "" {
			notes = append(notes, c.Name+": "+c.Note)
		}
	}
	if notes = append(notes, v.Notes...); len(v.Assumed) > 0 {
		notes = append(notes, "simulated, not measured: "+strings.Join(v.Assumed, ", "))
	}
	if len(v.Changes)+len(v.NoEffect) > 0 && len(notes) > 0 {
		s.line("")
	}
	for _, note := range notes {
		s.paragraph(2, note)
	}
	return s.write(w, len(s.lines))
}

// share is what each of several GPUs gets, and for how many that is enough.
func (s *screen) share() {
	x := s.verdict.Share
	if x == nil {
		return
	}
	lo, hi := around(x.Gets, x.Lo, x.Hi)
	each := fmt.Sprintf("each gets %.0f-%.0f images/s", lo, hi)
	if x.Needs > 0 {
		words := map[string]string{"yes": "enough", "no": "not enough", "perhaps": "perhaps"}
		each = fmt.Sprintf("each gets %.0f-%.0f of %.0f: %s", lo, hi, x.Needs,
			words[results.Enough(x.Lo, x.Hi, x.Needs)])
	}
	s.rate("GPUs", fmt.Sprint(x.GPUs), "", each+" ("+x.Evidence+")")
	if x.Needs == 0 {
		return
	}
	fed := fmt.Sprintf("enough for %d of %d", x.Fed, x.GPUs)
	if x.Fed > x.GPUs {
		fed = fmt.Sprintf("enough for up to %d", x.Fed)
	}
	if x.Cores > 0 {
		atLeast := map[bool]string{true: "at least "}[x.AtLeast]
		fed += fmt.Sprintf("; %d need %s%.0f cores", x.GPUs, atLeast, math.Ceil(x.Cores*float64(x.GPUs)))
	}
	s.rate("", "", "", fed)
}
