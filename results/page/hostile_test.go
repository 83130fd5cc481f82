package page

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
	"dlbench/results/encode"
)

// hostile is a text that a careless page would run, or let break its frame.
const hostile = `</style></title></svg>--><script>alert(1)</script><img src="x" onerror='alert(2)'>` +
	"&quot;\u202e\x00\x1b[2J\u2028{{.}}${7}javascript:alert(3)"

// poison sets every text of v to hostile but those that keep decides on.
func poison(v reflect.Value, keep func(string) bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Kind() == reflect.Pointer {
			poison(v.Elem(), keep)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && !keep(v.Type().Name()+"."+v.Type().Field(i).Name) {
				poison(v.Field(i), keep)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), keep)
		}
	case reflect.String:
		v.SetString(hostile)
	}
}

// hostilePage is a page of n reports all of whose texts are hostile.
func hostilePage(t *testing.T, n int) string {
	t.Helper()
	r := sample(t)
	r.Verdict = &results.Verdict{Changes: []results.Change{{}}, Feeds: results.Finite(1), Notes: []string{""},
		NoEffect: []string{""}, Parts: []results.PartTime{{}}}
	r.Predictions = []results.Prediction{{}}
	r.Host.GPUs = []results.GPU{{Shares: []string{""}}}
	r.Host.Disks = []results.Disk{{Notes: []string{""}, MountOptions: []string{""}}}
	r.Host.Notes = []string{""}
	poison(reflect.ValueOf(r), func(field string) bool {
		return slices.Contains([]string{"Report.Status", "Result.Status", "Time.loc"}, field)
	})
	for i := range r.Results {
		r.Results[i].Params = results.Params{{Key: hostile, Value: hostile}, {Key: "n", Value: int64(i)}}
	}
	r.Config.Axes = map[string][]string{hostile: {hostile}}
	svg := []byte("<svg><text>&lt;/style&gt;&lt;script&gt;alert(1)&lt;/script&gt;</text></svg>")
	d := pageOf(t, slices.Repeat([]*results.Report{r}, n)...)
	add(d, hostile, hostile, svg)
	d.Comparison = []encode.Table{{Suite: hostile, Rows: 1, Sources: []string{hostile},
		Columns: []encode.Column{{Head: hostile, Cells: []string{hostile}, Spread: []string{hostile}}}}}
	d.Left = []string{hostile}
	return write(t, d)
}

func TestWriteHostile(t *testing.T) {
	for n := 1; n <= 2; n++ {
		page := hostilePage(t, n)
		all := checkPage(t, page)
		for _, bad := range []string{"<script", "<img src", "\u202e", "\x00", "\x1b", "\u2028", "ZgotmplZ"} {
			if i := strings.Index(page, bad); i >= 0 {
				t.Errorf("%q in ...%s...", bad, page[max(i-80, 0):i+40])
			}
		}
		if n := strings.Count(page, "&lt;script&gt;alert(1)&lt;/script&gt;"); n < 40 {
			t.Errorf("hostile text is there %d times: was it dropped?", n)
		}
		for _, e := range all {
			if class := e.attrs["class"]; strings.ContainsAny(class, `<>"'&`) {
				t.Errorf("class %q", class)
			}
		}
	}
}

// A label goes through charts and the comparison into the page as text.
func TestWriteHostileLabel(t *testing.T) {
	const label = `</text></svg><script>alert(1)</script>"'&<img src=x onerror=alert(2)>`
	rep := sample(t)
	rep.Label, rep.Host.CPU.Model = label, label
	var b bytes.Buffer
	if _, err := Write(t.Context(), &b, []*results.Report{rep, rep}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<img src", "<?xml"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("%q in the page", bad)
		}
	}
}
