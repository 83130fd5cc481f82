package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"testing"
)

// testdata/v1.json is the report of a run of all suites by the version that froze schema
// version 1. It is never written anew: what it holds is read for ever.
const v1 = "testdata/v1.json"

func TestV1IsRead(t *testing.T) {
	r, err := ReadFile(v1)
	if err != nil {
		t.Fatal(err)
	}
	var suites []string
	for _, res := range r.Results {
		if res.Status == OK && len(res.Metrics) > 0 {
			suites = AppendNew(suites, res.Suite)
		}
	}
	if want := []string{"pcie", "disk", "preprocess", "pipeline"}; !slices.Equal(suites, want) {
		t.Errorf("suites %v, want %v", suites, want)
	}
	if len(r.Findings) == 0 || len(r.Predictions) == 0 || r.Verdict == nil || r.Dataset == nil {
		t.Error("findings, predictions, a verdict or the data set are missing")
	}
}

// No field of version 1 has another name or is gone.
func TestV1IsKept(t *testing.T) {
	data, err := os.ReadFile(v1)
	if err != nil {
		t.Fatal(err)
	}
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if err := strict.Decode(new(Report)); err != nil {
		t.Fatal(err)
	}
	r, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var was, is any
	if err := errors.Join(json.Unmarshal(data, &was), json.Unmarshal(encode(t, r), &is)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(was, is) {
		t.Error("what is read and written again is another report")
	}
}
