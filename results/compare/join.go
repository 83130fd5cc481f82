package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dlbench/results"
)

// deviceKey is the parameter that names the device a case ran on. It names a place
// in one machine, so that by itself it does not keep cases apart.
const deviceKey = "device"

// diskKey is the parameter that names a disk, real or simulated. Where each report has
// one, the two are compared.
const diskKey = "disk"

// checkBy checks that every parameter of by is one of a report's.
func checkBy(reports []*results.Report, by []string) error {
	var known []string
	for _, r := range reports {
		for i := range r.Results {
			known = results.AppendNew(known, results.ParamKeys(&r.Results[i])...)
		}
	}
	for _, key := range by {
		if !slices.Contains(known, key) {
			return fmt.Errorf("%w: no case has the parameter %q: want some of %s", ErrBy, key,
				strings.Join(known, ", "))
		}
	}
	return nil
}

// pair returns which result of other each result of base is compared with.
func pair(base, other *results.Report, by []string, s *Setting) (map[*results.Result]*results.Result, error) {
	pairs := map[*results.Result]*results.Result{}
	for _, suite := range suitesOf(base) {
		j := newJoin(ofSuite(base, suite), ofSuite(other, suite), by, s)
		rows, err := j.rows(base.Label, j.base, nil)
		if err != nil {
			return nil, err
		}
		match := matchDevices(valuesOf(j.base, deviceKey, ""), valuesOf(j.other, deviceKey, ""))
		others, err := j.rows(other.Label, j.other, match)
		if err != nil {
			return nil, err
		}
		for key, res := range rows {
			if o := others[key]; o != nil {
				pairs[res] = o
			}
		}
	}
	return pairs, nil
}

func suitesOf(r *results.Report) (suites []string) {
	for _, res := range r.Results {
		suites = results.AppendNew(suites, res.Suite)
	}
	return suites
}

func ofSuite(r *results.Report, suite string) (in []*results.Result) {
	for i := range r.Results {
		if r.Results[i].Suite == suite {
			in = append(in, &r.Results[i])
		}
	}
	return in
}

// valuesOf returns the values of key, absent for a case that has none unless that is "".
func valuesOf(in []*results.Result, key, absent string) (values []string) {
	for _, res := range in {
		if p, ok := res.Params.Find(key); ok || absent != "" {
			values = results.AppendNew(values, cmp.Or(p.Text(), absent))
		}
	}
	return values
}

// join is how the cases of a suite in two reports are compared.
type join struct {
	base, other []*results.Result
	given       bool // the user chose the keys
	keys        []string
	byDevice    bool // the device tells rows apart that the keys do not
	setting     *Setting
}

func newJoin(base, other []*results.Result, by []string, s *Setting) *join {
	j := &join{base: base, other: other, setting: s}
	all := results.ParamKeys(slices.Concat(base, other)...)
	j.keys = slices.DeleteFunc(slices.Clone(by), func(key string) bool { return !slices.Contains(all, key) })
	if j.given = len(j.keys) > 0; !j.given {
		several := func(in []*results.Result, key string) bool { return len(valuesOf(in, key, "")) > 1 }
		j.keys = slices.DeleteFunc(all, func(key string) bool {
			return key == deviceKey || j.unheardOf(key) || key == diskKey && !several(base, key) && !several(other, key)
		})
	}
	j.byDevice = !slices.Contains(j.keys, deviceKey) && (j.severalDevices(base) || j.severalDevices(other))
	return j
}

// unheardOf tells whether key does not count: a parameter that one side does not have and
// that goes without saying on the other is a later version's.
func (j *join) unheardOf(key string) bool {
	has := func(in []*results.Result) (some, said bool) {
		for _, res := range in {
			if p, ok := res.Params.Find(key); ok {
				some, said = true, said || !p.Implied
			}
		}
		return some, said
	}
	inBase, saidBase := has(j.base)
	inOther, saidOther := has(j.other)
	return inBase != inOther && !saidBase && !saidOther
}

// severalDevices tells whether two cases differ by their device alone.
func (j *join) severalDevices(in []*results.Result) bool {
	keys, onDevices := map[string]bool{}, map[string]bool{}
	for _, res := range in {
		key := j.key(res)
		keys[key], onDevices[key+res.Params.Text(deviceKey)] = true, true
	}
	return len(onDevices) > len(keys)
}

func (j *join) key(res *results.Result) string {
	var b strings.Builder
	for _, key := range j.keys {
		if p, ok := res.Params.Find(key); ok && (j.given || !j.setting.hides(res.Suite, key, p.Text())) {
			fmt.Fprintf(&b, "%q=%q ", key, p.Text())
		}
	}
	return b.String()
}

// rows returns the result of each row, by the values of what it is joined by. match
// has the devices that devices join as, but by themselves.
func (j *join) rows(label string, in []*results.Result, match map[string]string) (
	map[string]*results.Result, error) {
	rows := make(map[string]*results.Result, len(in))
	for _, res := range in {
		key := j.key(res)
		if j.byDevice {
			device := res.Params.Text(deviceKey)
			key += cmp.Or(match[device], device)
		}
		if first := rows[key]; first != nil {
			return nil, j.collision(label, first, res)
		}
		rows[key] = res
	}
	return rows, nil
}

func (j *join) collision(label string, a, b *results.Result) error {
	if !j.given {
		return fmt.Errorf("%s: %q and %q have the same parameters", label, a.Name, b.Name)
	}
	var more []string
	for _, p := range a.Params {
		if b.Params.Text(p.Key) != p.Text() {
			more = append(more, p.Key)
		}
	}
	return fmt.Errorf("%w: %s has both %s and %s: add %s", ErrBy, label, a.Name, b.Name, strings.Join(more, " or "))
}

// matchDevices returns which device of base each device of other stands against: the same one, else the only one
// left of its kind ("cuda:0" and "cuda:1"). Others stand against none.
func matchDevices(base, other []string) map[string]string {
	match := map[string]string{}
	for _, spec := range results.Common([][]string{other, base}) {
		match[spec] = spec
	}
	baseLeft, left := results.Without(base, other...), results.Without(other, base...)
	for _, spec := range left {
		unlike := func(s string) bool { return deviceKind(s) != deviceKind(spec) }
		a, b := slices.DeleteFunc(slices.Clone(baseLeft), unlike), slices.DeleteFunc(slices.Clone(left), unlike)
		match[spec] = "other " + spec // no device is called so
		if len(a) == 1 && len(b) == 1 {
			match[spec] = a[0]
		}
	}
	return match
}

// deviceKind is "cuda" of "cuda:0:link=gen3x4".
func deviceKind(spec string) string {
	kind, _, _ := strings.Cut(spec, ":")
	return kind
}

// differing says in which suites or parameters the unpaired cases of two reports
// differ: "only A has bytes=19440000; only B has bytes=9720000".
func differing(base, other *results.Report, pairs map[*results.Result]*results.Result) string {
	var mine, theirs []string
	add := func(key string, a, b []string) {
		mine = results.AppendNew(mine, oneOf(key, results.Without(a, b...)))
		theirs = results.AppendNew(theirs, oneOf(key, results.Without(b, a...)))
	}
	add("suite", suitesOf(base), suitesOf(other))
	for _, suite := range suitesOf(base) {
		a, b := ofSuite(base, suite), ofSuite(other, suite)
		if len(b) == 0 {
			continue
		}
		paired := slices.ContainsFunc(a, func(res *results.Result) bool { return pairs[res] != nil })
		for _, key := range results.ParamKeys(slices.Concat(a, b)...) {
			x, y := valuesOf(a, key, "(absent)"), valuesOf(b, key, "(absent)")
			if key != deviceKey || !paired || len(x) > 1 || len(y) > 1 { // else it did not get in the way
				add(key, x, y)
			}
		}
	}
	empty := func(r *results.Report) string {
		if len(r.Results) == 0 {
			return r.Label + " has no case"
		}
		return ""
	}
	return results.Join("; ", empty(base), empty(other), results.After("only "+base.Label+" has ", results.List(mine...)),
		results.After("only "+other.Label+" has ", results.List(theirs...)))
}

// shown is how many values or names stand in a sentence.
const shown = 4

// oneOf is "key=value or value", "" of none.
func oneOf(key string, values []string) string {
	text := strings.Join(values[:min(shown, len(values))], " or ")
	if more := len(values) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return results.After(key+"=", text)
}

// differentFacts are the facts in which reports differ.
func differentFacts(reports []*results.Report) []Difference {
	ds := []Difference{}
	for _, r := range reports {
		for k, f := range r.Facts() {
			if len(ds) <= k {
				ds = append(ds, Difference{What: f.What})
			}
			ds[k].Values = append(ds[k].Values, f.Text)
		}
	}
	return slices.DeleteFunc(ds, func(d Difference) bool { return len(results.AppendNew(nil, d.Values...)) < 2 })
}

// differentParams are the parameters in which cases differ that were joined all the same.
func differentParams(joined [][]*results.Result, sides int) (ds []Difference) {
	var base []*results.Result
	for _, row := range joined {
		base = append(base, row[0])
	}
	for _, key := range results.ParamKeys(base...) {
		values := make([][]string, sides)
		for _, row := range joined {
			p, ok := row[0].Params.Find(key)
			differs := func(res *results.Result) bool { return res != nil && res.Params.Text(key) != p.Text() }
			if !ok || !slices.ContainsFunc(row[1:], differs) {
				continue
			}
			for i, res := range row {
				if res != nil {
					values[i] = results.AppendNew(values[i], res.Params.Text(key))
				}
			}
		}
		if len(values[0]) == 0 {
			continue
		}
		d := Difference{What: "parameter " + key}
		for _, v := range values {
			d.Values = append(d.Values, strings.Join(v, " or "))
		}
		ds = append(ds, d)
	}
	return ds
}
