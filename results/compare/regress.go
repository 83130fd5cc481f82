package compare

import (
	"fmt"

	"dlbench/results"
)

// Regression is something that got worse beyond doubt, or that the base measured
// and another report did not.
type Regression struct {
	Label string // of the other report
	Text  string // one line, without the label
}

// Regressions returns what is worse by more than share (0.05 for 5 %) of the base:
// the verdict is Worse and the whole interval of the ratio lies beyond it. What
// the base measured and another report assumes, skipped, failed at, lacks or has in
// another unit is a regression, too.
func (c *Comparison) Regressions(share float64) (rs []Regression) {
	for _, u := range c.Unpaired {
		for _, name := range u.Lost {
			rs = append(rs, Regression{u.Label, name + " is missing"})
		}
	}
	for _, cc := range c.Cases {
		if cc.Sides[0].Status != results.OK || len(cc.Sides[0].Assumed) > 0 {
			continue
		}
		for i := 1; i < len(c.Sides); i++ {
			if s := cc.Sides[i]; s.Name == "" {
				continue // counted above
			} else if s.Status != results.OK {
				rs = append(rs, Regression{c.Sides[i].Label, fmt.Sprintf("%s %s: %s", s.Name, s.Status, s.Reason)})
				continue
			} else if len(s.Assumed) > 0 {
				rs = append(rs, Regression{c.Sides[i].Label, s.Name + " is assumed"})
				continue
			}
			for _, m := range cc.Metrics {
				switch s := m.Sides[i]; {
				case s.Verdict == Worse && s.beyond > share:
					text := fmt.Sprintf("%s of %s is worse by more than %s", m.Name, cc.Sides[0].Name, results.FormatExact(share, results.Ratio))
					if s.Ratio != nil {
						text = fmt.Sprintf("%s of %s is worse: %s", m.Name, cc.Sides[0].Name, ratioText(&s))
					}
					rs = append(rs, Regression{c.Sides[i].Label, text})
				case s.Estimate == nil && m.Better != "":
					rs = append(rs, Regression{c.Sides[i].Label, fmt.Sprintf("%s of %s is missing", m.Name, cc.Sides[0].Name)})
				case s.Verdict == NotCompared && m.Better != "":
					rs = append(rs, Regression{c.Sides[i].Label, fmt.Sprintf("%s of %s is not compared: %s", m.Name, cc.Sides[0].Name, s.Reason)})
				}
			}
		}
	}
	return rs
}
