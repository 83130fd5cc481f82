package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Sizes of the parts of a comparison.
const (
	versusHead    = 19 * px  // the title of a group
	versusNames   = 262 * px // at most, for the names left of the bars
	versusMarker  = 16 * px  // a machine's marker before its name
	changeNames   = 330 * px // at most, for names that are no machine's
	versusLogFrom = 20       // logFrom of rows that are alike
)

// axis says what the values of a comparison are.
type axis struct {
	text  string // time per batch
	unit  func(max float64) unit
	label func(float64) string // of a tick on a logarithmic axis
}

// fill adds the rows, the legend and the axis to f.
func (v versus) fill(f *figure, a axis) *figure {
	f.plot, f.legend = newPlot(), v.legend()
	f.left, f.right = v.namesWidth()+10*px, v.valuesWidth()+16*px
	f.top = vg.Length(len(v.Demands))*feedRow + 2*px
	for i, g := range v.Groups {
		if i > 0 {
			f.data += groupGap
		}
		f.data += v.height(g)
	}
	f.data += groupGap / 2

	least, most := v.bounds()
	u := a.unit(most)
	p := f.plot
	p.X.Min, p.X.Max = 0, most*1.03
	f.x = a.text + " (" + u.name + ")"
	ticks := int((layoutWidth*px - 2*margin - f.left - f.right) / (65 * px))
	p.X.Tick.Marker = u.ticks(ticks)
	if most > versusLogFrom*least && v.parts == nil {
		p.X.Scale = plot.LogScale{}
		p.X.Min, p.X.Max = least/1.6, most*1.15
		p.X.Tick.Marker = logTicks(ticks, a.label)
		f.x += ", logarithmic: compare ends, not lengths"
	}
	p.Y.Min, p.Y.Max = 0, 1
	p.HideY()
	p.Y.LineStyle = line(muted, 1)
	p.Add(grid(true, false), versusPlot{v, f.left, f.right})
	return f
}

// namesWidth is the space that the names need.
func (v versus) namesWidth() (w vg.Length) {
	for _, g := range v.Groups {
		for _, r := range g.Rows {
			name, detail := v.name(r)
			w = max(w, width(labelText, name)+width(labelText, detail))
		}
	}
	return v.marker() + w
}

// marker is the space before a name.
func (v versus) marker() vg.Length {
	if v.names == nil {
		return 0
	}
	return versusMarker
}

// name is the machine of r and its detail, as they fit.
func (v versus) name(r versusRow) (machine, detail string) {
	const most = versusNames - versusMarker
	if v.names == nil {
		return fit(labelText, r.Detail, changeNames), ""
	}
	if r.Detail != "" {
		detail = fit(labelText, ", "+r.Detail, most*0.6)
	}
	return fit(labelText, v.names[r.Machine], most-width(labelText, detail)), detail
}

// valuesWidth is the space that the values need.
func (v versus) valuesWidth() (w vg.Length) {
	for _, g := range v.Groups {
		for _, r := range g.Rows {
			w = max(w, width(labelText, r.value()))
		}
	}
	return w
}

// value is the text at the right end of r.
func (r versusRow) value() string {
	switch {
	case r.Failed:
		return "failed"
	case r.Doubt != "":
		return r.Value + ", " + r.Doubt
	}
	return r.Value
}

// row is the height of a row.
func (v versus) row() vg.Length {
	if v.any(func(_ versusGroup, r versusRow) bool { return r.Others != span{} }) {
		return rowHeight + bracketSpace - 2*px
	}
	return rowHeight - 2*px
}

// lane is the height of the references of g.
func (g versusGroup) lane() vg.Length {
	if len(g.Marks) == 0 {
		return 0
	}
	return laneHeight + 4*px
}

func (v versus) height(g versusGroup) vg.Length {
	return versusHead + g.lane() + vg.Length(len(g.Rows))*v.row()
}
