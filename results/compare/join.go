package compare

import (
	"fmt"
	"slices"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// deviceKey is the parameter that names the device a case ran on. It names a place
// in one machine, so that by itself it does not keep cases apart.
const deviceKey = "device"

// diskKey is the parameter that names a disk, real or emulated. Where each report has
// one, the two are compared.
const diskKey = "disk"

// checkBy holds that every parameter of by is one of a report's.
func checkBy(reports []Labelled, by []string) error {
	var known []string
	for _, r := range reports {
		for i := range r.Report.Results {
			known = results.AppendNew(known, results.ParamKeys(&r.Report.Results[i])...)
		}
	}
	for _, key := range by {
		if !slices.Contains(known, key) {
			return fmt.Errorf("%w: no case has the parameter %q: want some of %s", ErrBy, key, strings.Join(known, ", "))
		}
	}
	return nil
}

// pair returns which result of other each result of base is compared with.
func pair(base, other Labelled, by []string) (map[*results.Result]*results.Result, error) {
	pairs := map[*results.Result]*results.Result{}
	for _, suite := range suitesOf(base.Report) {
		j := newJoint(ofSuite(base.Report, suite), ofSuite(other.Report, suite), by)
		rows, err := j.rows(base.Label, j.base, nil)
		if err != nil {
			return nil, err
		}
		others, err := j.rows(other.Label, j.other, j.devices)
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
		v, ok := res.Params.Get(key)
		if !ok {
			v = absent
		}
		if ok || absent != "" {
			values = results.AppendNew(values, v)
		}
	}
	return values
}

// joint is how the cases of a suite in two reports are held against each other.
type joint struct {
	base, other []*results.Result
	given       bool // the user chose the keys
	keys        []string
	byDevice    bool              // the device tells rows apart that the keys do not
	devices     map[string]string // what other's devices are called in the base
}

func newJoint(base, other []*results.Result, by []string) *joint {
	j := &joint{base: base, other: other}
	all := results.ParamKeys(slices.Concat(base, other)...)
	for _, key := range by {
		if slices.Contains(all, key) {
			j.keys, j.given = append(j.keys, key), true
		}
	}
	if !j.given {
		several := func(key string) bool { return max(len(valuesOf(base, key, "")), len(valuesOf(other, key, ""))) > 1 }
		j.keys = slices.DeleteFunc(all, func(key string) bool {
			return key == deviceKey || !known(base, other, key) || key == diskKey && !several(key)
		})
	}
	if !slices.Contains(j.keys, deviceKey) && (j.severalDevices(base) || j.severalDevices(other)) {
		j.byDevice = true
		j.devices = matchDevices(valuesOf(base, deviceKey, ""), valuesOf(other, deviceKey, ""))
	}
	return j
}

// known tells whether key counts. A parameter that one side has never heard of and
// that goes without saying on the other is a later version's: it does not.
func known(base, other []*results.Result, key string) bool {
	has := func(in []*results.Result) (some, said bool) {
		for _, res := range in {
			if p, ok := res.Params.Find(key); ok {
				some, said = true, said || !p.Implied
			}
		}
		return some, said
	}
	inBase, saidBase := has(base)
	inOther, saidOther := has(other)
	return inBase && inOther || saidBase || saidOther
}

// severalDevices tells whether two cases differ by their device alone.
func (j *joint) severalDevices(in []*results.Result) bool {
	devices := map[string]string{}
	for _, res := range in {
		key, device := j.key(res), res.Params.Text(deviceKey)
		if first, ok := devices[key]; ok && first != device {
			return true
		}
		devices[key] = device
	}
	return false
}

func (j *joint) key(res *results.Result) string {
	var b strings.Builder
	for _, key := range j.keys {
		if v, ok := res.Params.Get(key); ok {
			fmt.Fprintf(&b, "%q=%q ", key, v)
		}
	}
	return b.String()
}

// rows returns the result of each row. devices gives the names under which devices
// join, nil for their own.
func (j *joint) rows(label string, in []*results.Result, devices map[string]string) (map[string]*results.Result, error) {
	rows := make(map[string]*results.Result, len(in))
	for _, res := range in {
		key := j.key(res)
		if j.byDevice {
			device := res.Params.Text(deviceKey)
			name, ok := devices[device]
			switch {
			case devices == nil:
				name = device
			case !ok:
				name = "other " + device // no device is called so
			}
			key += name
		}
		if first := rows[key]; first != nil {
			return nil, j.collision(label, first, res)
		}
		rows[key] = res
	}
	return rows, nil
}

func (j *joint) collision(label string, a, b *results.Result) error {
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

// matchDevices returns which device of base each device of other stands against,
// where that is plain: one of the same specification, else the only one left of
// the same kind and link ("sim:gen3x4" and "sim:gen3x4:gbps=3"), else the only
// one left of its kind ("cuda:0" and "cuda:1").
func matchDevices(base, other []string) map[string]string {
	match := map[string]string{}
	base, other = slices.Clone(base), slices.Clone(other)
	for _, like := range []func(string) string{func(spec string) string { return spec }, deviceLink, deviceKind} {
		counts := map[string][2]int{}
		for i, specs := range [][]string{base, other} {
			for _, spec := range specs {
				n := counts[like(spec)]
				n[i]++
				counts[like(spec)] = n
			}
		}
		for _, spec := range slices.Clone(other) {
			if counts[like(spec)] != [2]int{1, 1} {
				continue
			}
			at := slices.IndexFunc(base, func(b string) bool { return like(b) == like(spec) })
			match[spec] = base[at]
			base = slices.Delete(base, at, at+1)
			other = slices.DeleteFunc(other, func(o string) bool { return o == spec })
		}
	}
	return match
}

// deviceLink is the kind and the link of a device, which real ones may lack.
func deviceLink(spec string) string {
	d, _ := theory.ParseDevice(spec)
	return deviceKind(spec) + ":" + d.Link.String()
}

// deviceKind is "cuda" of "cuda:0:link=gen3x4".
func deviceKind(spec string) string {
	kind, _, _ := strings.Cut(spec, ":")
	return kind
}
