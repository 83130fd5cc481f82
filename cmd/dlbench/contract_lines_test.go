package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// numbersClose is the relative difference up to which two numbers are one.
const numbersClose = 1e-12

// numberLines are the scalar fields of objects by the objects' paths.
type numberLines map[string]map[string]any

// notNumbers are fields that do not follow from samples, wherever they stand.
var notNumbers = []string{
	"schema_version", "comparison_version", "version", "tool", "started", "finished", "starts", "label", "config",
	"software", "host", "dataset", "differences", "params", "samples", "series", "proof", "source", "warnings",
	"better", "method",
}

// inWords are fields whose wording is free, but not the numbers in it.
var inWords = []string{"text", "note", "notes", "reason"}

var numberInWords = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// inPaths are the fields that tell the elements of a list apart. They stand in paths.
var inPaths = []string{"name", "claim", "change", "p"}

// add adds what v, an object or a list of objects, holds.
func (l numberLines) add(path string, v any) {
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			id := idOf(x)
			if strings.HasSuffix(path, "/sides") { // of compared cases: their names are long
				id = ""
			}
			l.add(fmt.Sprintf("%s[%d%s]", path, i, id), x)
		}
	case map[string]any:
		id := idOf(v)
		named := id != "" && strings.HasSuffix(path, id+"]")
		for key, x := range v {
			switch {
			case slices.Contains(notNumbers, key), named && slices.Contains(inPaths, key):
			case isObject(x):
				l.add(path+"/"+key, x)
			default:
				l.set(path, key, scalar(key, x))
			}
		}
	}
}

func (l numberLines) set(path, key string, x any) {
	if l[path] == nil {
		l[path] = map[string]any{}
	}
	l[path][key] = x
}

// scalar is what is kept of a field.
func scalar(key string, x any) any {
	if !slices.Contains(inWords, key) {
		return x
	}
	return strings.Join(numberInWords.FindAllString(fmt.Sprint(x), -1), " ")
}

func isObject(v any) bool {
	list, ok := v.([]any)
	if ok && len(list) > 0 {
		v = list[0]
	}
	_, ok = v.(map[string]any)
	return ok
}

// idOf names an element of a list.
func idOf(v any) string {
	object, _ := v.(map[string]any)
	id := ""
	for _, key := range inPaths {
		if x, ok := object[key]; ok {
			id += fmt.Sprint(" ", x)
		}
	}
	return id
}

// without are the lines of l without the fields that are as in other, and null for those
// that other has alone.
func (l numberLines) without(other numberLines) numberLines {
	out := numberLines{}
	for path, fields := range l {
		for key, x := range fields {
			if y, ok := other[path][key]; !ok || !sameNumbers(x, y) {
				out.set(path, key, x)
			}
		}
	}
	for path, fields := range other {
		for key := range fields {
			if _, ok := l[path][key]; !ok {
				out.set(path, key, nil)
			}
		}
	}
	return out
}

// sameNumbers tells whether two fields are the same.
func sameNumbers(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		y, ok := b.(json.Number)
		if !ok {
			return false
		}
		p, _ := x.Float64()
		q, _ := y.Float64()
		return p == q || math.Abs(p-q) <= numbersClose*max(math.Abs(p), math.Abs(q))
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, sameNumbers)
	}
	return a == b
}

// text is the lines in the order of their paths.
func (l numberLines) text(t *testing.T) string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(l)) {
		b.WriteString(path + "\t")
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(l[path]); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func readNumberLines(t *testing.T, path string) numberLines {
	t.Helper()
	l := numberLines{}
	for line := range strings.Lines(string(mustRead(t, path))) {
		at, fields, _ := strings.Cut(line, "\t")
		l[at] = parseTree(t, []byte(fields)).(map[string]any)
	}
	return l
}

// compare reports where l is not as wanted.
func (l numberLines) compare(t *testing.T, want numberLines) {
	t.Helper()
	n := 0
	differing := l.without(want)
	for _, path := range slices.Sorted(maps.Keys(differing)) {
		for _, key := range slices.Sorted(maps.Keys(differing[path])) {
			if n++; n <= mostReported {
				t.Errorf("%s %s: %v, want %v", path, key, field(l, path, key), field(want, path, key))
			}
		}
	}
	if n > mostReported {
		t.Errorf("and %d more", n-mostReported)
	}
}

// mostReported is how many differences are printed.
const mostReported = 30

// field is what stands there, in words where nothing does.
func field(l numberLines, path, key string) any {
	x, ok := l[path][key]
	switch {
	case !ok:
		return "as before or in the report"
	case x == nil:
		return "absent"
	}
	return x
}
