package chart

import (
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg/draw"

	"dlbench/bench/theory"
)

// legend names each line and explains what they are held against.
func (d scaling) legend() []entry {
	var all []entry
	var intervals, ranges, linear, controls, fits bool
	for _, l := range d.Lines {
		all = append(all, diskStroke{Source: l.Source}.entry(d.legendName(l), false))
		linear, controls = linear || len(l.Points) > 1, controls || len(l.Control) > 1
		from, to := l.drawn()
		fits = fits || from < to
		for _, p := range l.Points {
			intervals, ranges = intervals || p.Spread != span{} && !p.Range, ranges || p.Range
		}
	}
	stroke := func(sty draw.LineStyle) func(draw.Canvas) {
		return func(c draw.Canvas) { c.StrokeLine2(sty, c.Min.X, c.Center().Y, c.Max.X, c.Center().Y) }
	}
	if text := spreadText(intervals, ranges); text != "" {
		all = append(all, entry{text, func(c draw.Canvas) { drawInterval(c, c.Center().X, c.Min.Y, c.Max.Y) }})
	}
	if linear && d.full() {
		all = append(all, entry{"linear scaling from " + d.fewest(), stroke(line(muted, 1.2, linearDashes...))})
	}
	if controls && d.full() {
		all = append(all, entry{"control: independent work on as many threads", stroke(line(muted, 1.2, controlDashes...))})
	}
	if fits && d.full() {
		all = append(all, entry{"fitted law, within the threads it was fitted to", stroke(fitStroke)})
	}
	if len(d.demands().Drawn) > 0 {
		all = append(all, entry{"demand of a GPU", stroke(line(ink, 1.4, 8*px, 3*px))})
	}
	return all
}

// fewest says what linear scaling starts from.
func (d scaling) fewest() string {
	if slices.ContainsFunc(d.Lines, func(l scalingLine) bool { return len(l.Points) > 0 && l.Points[0].Threads != 1 }) {
		return "the fewest threads"
	}
	return "one thread"
}

// legendName is the name of l with what failed, where siblings join, and the fit.
func (d scaling) legendName(l scalingLine) string {
	if len(l.Points) == 0 {
		return l.Name + ": failed"
	}
	var parts []string
	for i, n := range l.Failed {
		if i > 0 {
			parts[0] += fmt.Sprintf(", %d", n)
			continue
		}
		parts = append(parts, fmt.Sprintf("failed with %d", n))
	}
	if len(parts) > 0 {
		parts[0] += " threads"
	}
	if d.several() {
		if l.Fast > 0 {
			parts = append(parts, fmt.Sprintf("slower cores above %d", l.Fast))
		}
		if l.Cores > 0 {
			parts = append(parts, fmt.Sprintf("SMT siblings above %d", l.Cores))
		}
	}
	if least, most := l.drawn(); least < most && d.full() {
		parts = append(parts, fitText(l.Fit))
	}
	return listed(l.Name, parts)
}

// listed adds what there is to say to a name.
func listed(name string, parts []string) string {
	for i, p := range parts {
		if i == 0 {
			name += ": " + p
		} else {
			name += ", " + p
		}
	}
	return name
}

// fitText is what a fit says: "3.1 % serial (Amdahl, error 0.8 %)".
func fitText(s theory.Scaling) string {
	err := "error below 0.1 %)"
	if s.Error >= 0.001 {
		err = fmt.Sprintf("error %s %%)", shares.digits(s.Error, 2))
	}
	if s.Law == theory.Amdahl {
		return fmt.Sprintf("%s %% serial (Amdahl, %s", strconv.FormatFloat(100*s.Sigma, 'f', 1, 64), err)
	}
	if peak, ok := s.Peak(); ok && peak <= float64(s.Most) {
		return fmt.Sprintf("peak at %.0f threads (USL, %s", peak, err)
	}
	return fmt.Sprintf("no peak up to %d threads (USL, %s", s.Most, err)
}
