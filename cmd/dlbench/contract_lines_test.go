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

// numberLines are the scalar fields of objects, by the objects' paths and the fields' keys.
type numberLines map[place]any

type place struct{ path, key string }

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
			case slices.Contains(inWords, key):
				l[place{path, key}] = strings.Join(numberInWords.FindAllString(fmt.Sprint(x), -1), " ")
			default:
				l[place{path, key}] = x
			}
		}
	}
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

// without are the fields of l that are not as in other, and null for those that other has alone.
func (l numberLines) without(other numberLines) numberLines {
	out := numberLines{}
	for at, x := range l {
		if y, ok := other[at]; !ok || !sameNumbers(x, y) {
			out[at] = x
		}
	}
	for at := range other {
		if _, ok := l[at]; !ok {
			out[at] = nil
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

// text is a line for each object, in the order of their paths.
func (l numberLines) text(t *testing.T) string {
	objects := map[string]map[string]any{}
	for at, x := range l {
		if objects[at.path] == nil {
			objects[at.path] = map[string]any{}
		}
		objects[at.path][at.key] = x
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, path := range slices.Sorted(maps.Keys(objects)) {
		b.WriteString(path + "\t")
		if err := e.Encode(objects[path]); err != nil {
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
		for key, x := range parseTree(t, []byte(fields)).(map[string]any) {
			l[place{at, key}] = x
		}
	}
	return l
}

// mostReported is how many differences are printed.
const mostReported = 30

// compare reports where l is not as wanted.
func (l numberLines) compare(t *testing.T, want numberLines) {
	t.Helper()
	var lines []string
	for at := range l.without(want) {
		lines = append(lines, fmt.Sprintf("%s %s: %v, want %v", at.path, at.key, l.field(at), want.field(at)))
	}
	slices.Sort(lines)
	for _, line := range lines[:min(len(lines), mostReported)] {
		t.Error(line)
	}
	if more := len(lines) - mostReported; more > 0 {
		t.Errorf("and %d more", more)
	}
}

// field is what stands there, in words where nothing does.
func (l numberLines) field(at place) any {
	x, ok := l[at]
	switch {
	case !ok:
		return "as before or in the report"
	case x == nil:
		return "absent"
	}
	return x
}
