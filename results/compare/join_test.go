package compare

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// cases makes a report with a case for each list of parameters, "device cuda:0 mem pinned".
func cases(lists ...string) *results.Report {
	m := quietMachine(1, 0).time(1)
	var rs []results.Result
	for _, l := range lists {
		rs = append(rs, measured(m, strings.Fields(l)...))
	}
	return report(rs...)
}

func TestJoin(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b []string
		by   []string
		want []int // of each case of a, the index in b
	}{
		{"devices do not get in the way", []string{"device sim:gen3x4 mem pinned", "device sim:gen3x4 mem pageable"},
			[]string{"device sim:gen3x16 mem pageable", "device sim:gen3x16 mem pinned"}, nil, []int{1, 0}},
		{"host and device", []string{"device host dir h2h", "device cuda:0 dir h2d"},
			[]string{"device host dir h2h", "device cuda:1 dir h2d"}, nil, []int{0, 1}},
		{"three devices by specification", []string{"device sim:gen3x4", "device sim:gen3x8", "device sim:gen3x16"},
			[]string{"device sim:gen3x16", "device sim:gen3x4", "device sim:gen3x8"}, nil, []int{1, 2, 0}},
		{"one of three", []string{"device sim:gen3x16"}, []string{"device sim:gen3x4", "device sim:gen3x16"}, nil,
			[]int{1}},
		{"the only one left of its kind", []string{"device sim:gen3x4", "device cuda:0"},
			[]string{"device cuda:3", "device sim:gen3x4"}, nil, []int{1, 0}},
		{"no guess among several", []string{"device cuda:0", "device cuda:1"},
			[]string{"device cuda:2", "device cuda:1"}, nil, []int{0, 1}},
		{"no guess across kinds", []string{"device cuda:0", "device host"},
			[]string{"device sim:gen3x4", "device sim:gen3x8", "device host"}, nil, []int{-1, 2}},
		{"a device that has more cases", []string{"device sim:gen3x4 dir h2d", "device sim:gen3x16 dir h2d",
			"device sim:gen3x16 dir d2h"},
			[]string{"device sim:gen3x4 dir h2d", "device sim:gen3x16 dir h2d", "device sim:gen3x4 dir d2h"}, nil,
			[]int{0, 1, -1}},
		{"one disk each", []string{"disk hdd readers 1", "disk hdd readers 4"},
			[]string{"disk stream100 readers 4", "disk stream100 readers 1"}, nil, []int{1, 0}},
		{"an emulated disk and the real one", []string{"disk hdd readers 1"}, []string{"readers 1"}, nil, []int{0}},
		{"several disks in a run", []string{"disk hdd readers 1", "disk real readers 1"},
			[]string{"disk real readers 1"}, nil, []int{-1, 0}},
		{"by some", []string{"mem pinned bytes 1", "mem pageable bytes 1"},
			[]string{"mem pageable bytes 2", "mem pinned bytes 2"}, []string{"mem"}, []int{1, 0}},
		{"by some, several devices", []string{"device sim:gen3x4 bytes 1", "device sim:gen3x16 bytes 1"},
			[]string{"device sim:gen3x16 bytes 2", "device sim:gen3x4 bytes 2"},
			[]string{"bytes", "device"}, []int{-1, -1}},
		{"by none of the suite's", []string{"mem pinned bytes 1"}, []string{"mem pinned bytes 1"}, []string{"threads"},
			[]int{0}},
	} {
		got, err := pairNumbers(cases(test.a...), cases(test.b...), test.by)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %v, %v; want %v", test.name, got, err, test.want)
		}
	}
}

// pairNumbers is pair by the numbers of b's results for each of a's, -1 for none.
func pairNumbers(a, b *results.Report, by []string) (numbers []int, err error) {
	pairs, err := pair(a, b, by, settingOf([]*results.Report{a, b}))
	for i := range a.Results {
		other := pairs[&a.Results[i]]
		named := func(res results.Result) bool { return other != nil && res.Name == other.Name }
		numbers = append(numbers, slices.IndexFunc(b.Results, named))
	}
	return numbers, err
}

// A parameter that a later version adds, and that goes without saying, keeps no cases apart.
func TestJoinLaterParameters(t *testing.T) {
	old, now := cases("mem pinned"), cases("mem pinned numa near")
	for implied, want := range map[bool]int{true: 0, false: -1} {
		now.Results[0].Params[1].Implied = implied
		for _, pairOf := range [][2]*results.Report{{old, now}, {now, old}} {
			if got, err := pairNumbers(pairOf[0], pairOf[1], nil); err != nil || got[0] != want {
				t.Errorf("implied %v: %v, %v, want %d", implied, got, err, want)
			}
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	a := cases("device cuda:0 mem pinned bytes 1", "device cuda:0 mem pageable bytes 1")
	twice := cases("mem pinned", "mem pinned")
	other := cases("device cuda:0 mem registered bytes 2")
	devices := cases("device sim:gen3x4", "device sim:gen3x8")
	disk := cases("store tar")
	disk.Results[0].Suite = "disk"
	for _, test := range []struct {
		name string
		in   []*results.Report
		o    Options
		is   error
		want string
	}{
		{"a name twice", labelled(a, twice), Options{}, nil, `b: two results are named "pcie/mem=pinned"`},
		{"no such base", labelled(a, a), Options{Base: "c"}, ErrBase, "want a, b"},
		{"no such parameter", labelled(a, a), Options{By: []string{"colour"}}, ErrBy,
			`"colour": want some of device, mem, bytes`},
		{"several in a row", labelled(a, a), Options{By: []string{"bytes"}}, ErrBy,
			"a has both pcie/device=cuda:0/mem=pinned/bytes=1 and pcie/device=cuda:0/mem=pageable/bytes=1: add mem"},
		{"nothing common", labelled(a, other), Options{}, ErrNothingCommon,
			"only a has mem=pinned or pageable, bytes=1; only b has mem=registered, bytes=2"},
		{"no case at all", labelled(report(), report()), Options{}, ErrNothingCommon, "a has no case; b has no case"},
		{"none in one", labelled(a, report()), Options{}, ErrNothingCommon, "b has no case"},
		{"none in the base", labelled(report(), a), Options{}, ErrNothingCommon, "a has no case"},
		{"no device common", labelled(cases("device cuda:0"), devices), Options{}, ErrNothingCommon,
			"only a has device=cuda:0; only b has device=sim:gen3x4 or sim:gen3x8"},
		{"no suite common", labelled(a, disk), Options{}, ErrNothingCommon, "only a has suite=pcie; only b has suite=disk"},
	} {
		_, err := Reports(test.in, test.o)
		if err == nil || test.is != nil && !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line, a %v with %q", test.name, err, test.is, test.want)
		}
	}
}

func TestUnpaired(t *testing.T) {
	a := cases("mem pinned", "mem staged", "mem pageable")
	a.Results[2] = assumedCase(quietMachine(1, 0).time(1), "mem", "pageable")
	c := compared(t, a, cases("mem pinned", "mem registered"))
	want := []Unpaired{{Label: "b", Base: []string{"pcie/mem=staged", "pcie/mem=pageable"},
		Lost: []string{"pcie/mem=staged"}, Other: []string{"pcie/mem=registered"},
		Reason: "only a has mem=staged or pageable; only b has mem=registered"}}
	if !reflect.DeepEqual(c.Unpaired, want) {
		t.Errorf("%+v, want %+v", c.Unpaired, want)
	}
}

// A report that leaves a fact out knows as little as one that calls it unknown.
func TestDifferences(t *testing.T) {
	a, b := sampleReport(), sampleReport()
	a.Host.Virtualization, b.Host.Virtualization = "", results.Unknown
	a.Host.GPUs = []results.GPU{{Name: results.Unknown, Link: results.Link{State: results.LinkUnknown}}}
	b.Host.Kernel, b.Host.CPU.Governor, b.Software.Driver, b.Tool.Version = "6.12.1", "powersave", "12.4", "v0.4.0"
	b.Host.GPUs = []results.GPU{{Name: "T4", Link: results.Link{State: results.LinkKnown, GTs: 2.5, Width: 8, MaxGTs: 8,
		MaxWidth: 16}}}
	b.Host.Disks = []results.Disk{{Model: "970 PRO", Kind: results.DiskNVMe, FileSystem: "ext4"}}
	b.Host.Memory.Total -= 4096 // another kernel's own needs are no difference
	got := map[string]string{}
	for _, d := range compared(t, a, b).Differences {
		got[d.What] = strings.Join(d.Values, " | ")
	}
	want := map[string]string{
		"kernel": "6.1.0-13-amd64 | 6.12.1", "governor": " | powersave", "driver": " | 12.4",
		"dlbench": "v0.3.0 (0123abc) | v0.4.0 (0123abc)",
		"GPUs":    " | T4", "link": " | Gen3 x16", "disk": " | 970 PRO nvme ext4",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
