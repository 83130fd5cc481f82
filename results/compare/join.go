package compare

import (
	"fmt"
	"slices"
	"strings"

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
			for _, p := range r.Report.Results[i].Params {
				if !slices.Contains(known, p.Key) {
					known = append(known, p.Key)
				}
			}
		}
	}
	for _, key := range by {
		if !slices.Contains(known, key) {
			return fmt.Errorf("%w: no case has the parameter %q: want some of %s", ErrBy, key, strings.Join(known, ", "))
		}
	}
	return nil
}

// pair returns, for each result of base, the index of the result of other that it
// is compared with, or -1.
func pair(base, other Labelled, by []string) ([]int, error) {
	pairs := make([]int, len(base.Report.Results))
	for i := range pairs {
		pairs[i] = -1
	}
	done := map[string]bool{}
	for i := range base.Report.Results {
		suite := base.Report.Results[i].Suite
		if done[suite] {
			continue
		}
		done[suite] = true
		j := newJoint(ofSuite(base.Report, suite), ofSuite(other.Report, suite), by)
		rows, err := j.rows(base, j.base, nil)
		if err != nil {
			return nil, err
		}
		others, err := j.rows(other, j.other, j.devices)
		if err != nil {
			return nil, err
		}
		for key, at := range rows {
			if k, ok := others[key]; ok {
				pairs[at] = k
			}
		}
	}
	return pairs, nil
}

// ofSuite returns the indices of the suite's results.
func ofSuite(r *results.Report, suite string) []indexed {
	var in []indexed
	for i := range r.Results {
		if r.Results[i].Suite == suite {
			in = append(in, indexed{i, &r.Results[i]})
		}
	}
	return in
}

// indexed is a result and its place in its report.
type indexed struct {
	at int
	*results.Result
}

// joint is how the cases of a suite in two reports are held against each other.
type joint struct {
	base, other []indexed
	given       bool // the user chose the keys
	keys        []string
	byDevice    bool              // the device tells rows apart that the keys do not
	devices     map[string]string // what other's devices are called in the base
}

func newJoint(base, other []indexed, by []string) *joint {
	j := &joint{base: base, other: other}
	all := allKeys(base, other)
	for _, key := range by {
		if slices.Contains(all, key) {
			j.keys, j.given = append(j.keys, key), true
		}
	}
	if !j.given {
		j.keys = slices.DeleteFunc(all, func(key string) bool {
			return key == deviceKey || !known(base, other, key) || key == diskKey && len(allOf(base, key)) <= 1 && len(allOf(other, key)) <= 1
		})
	}
	if !slices.Contains(j.keys, deviceKey) && (j.severalDevices(base) || j.severalDevices(other)) {
		j.byDevice = true
		j.devices = matchDevices(allOf(base, deviceKey), allOf(other, deviceKey))
	}
	return j
}

func allKeys(sides ...[]indexed) (keys []string) {
	for _, side := range sides {
		for _, res := range side {
			for _, p := range res.Params {
				if !slices.Contains(keys, p.Key) {
					keys = append(keys, p.Key)
				}
			}
		}
	}
	return keys
}

// known tells whether key counts. A parameter that one side has never heard of and
// that goes without saying on the other is a later version's: it does not.
func known(base, other []indexed, key string) bool {
	has := func(in []indexed) (some, said bool) {
		for _, res := range in {
			for _, p := range res.Params {
				if p.Key == key {
					some, said = true, said || !p.Implied
				}
			}
		}
		return some, said
	}
	inBase, saidBase := has(base)
	inOther, saidOther := has(other)
	return inBase && inOther || saidBase || saidOther
}

// severalDevices tells whether two cases differ by their device alone.
func (j *joint) severalDevices(in []indexed) bool {
	devices := map[string]string{}
	for _, res := range in {
		key, device := j.key(res.Result), res.Params.Text(deviceKey)
		if first, ok := devices[key]; ok && first != device {
			return true
		}
		devices[key] = device
	}
	return false
}

func allOf(in []indexed, key string) (values []string) {
	for _, res := range in {
		if v, ok := res.Params.Get(key); ok && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
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

// rows returns where the result of each row is in its report. devices gives the
// names under which devices join, nil for their own.
func (j *joint) rows(r Labelled, in []indexed, devices map[string]string) (map[string]int, error) {
	rows := make(map[string]int, len(in))
	for _, res := range in {
		key := j.key(res.Result)
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
		if first, ok := rows[key]; ok {
			return nil, j.collision(r.Label, r.Report.Results[first], *res.Result)
		}
		rows[key] = res.at
	}
	return rows, nil
}

func (j *joint) collision(label string, a, b results.Result) error {
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
