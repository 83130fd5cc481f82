package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// downloadElements are the links to reports in a page.
func downloadElements(t *testing.T, page string) []*element {
	t.Helper()
	return slices.DeleteFunc(parse(t, page), func(e *element) bool { return e.attrs["download"] == "" })
}

// downloadsOf decodes the reports in a page.
func downloadsOf(t *testing.T, page string) (all [][]byte) {
	t.Helper()
	for _, e := range downloadElements(t, page) {
		_, data, _ := strings.Cut(e.attrs["href"], ";base64,")
		b, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

func TestDownloadIsTheReport(t *testing.T) {
	want := sample(t)
	all := downloadsOf(t, write(t, pageOf(t, want, sample(t))))
	if len(all) != 2 {
		t.Fatalf("%d reports in the page, want 2", len(all))
	}
	got, err := results.Read(bytes.NewReader(all[0]))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("the report in the page is another one")
	}
}

// Large reports are compressed, and what does not fit either is named.
func TestLargeDownloads(t *testing.T) {
	large, random := sample(t), sample(t)
	m := &large.Results[0].Metrics[0]
	m.Samples = slices.Repeat(m.Samples, 1+maxJSON/10/len(m.Samples))
	noise := make([]byte, maxJSON)
	rand.NewChaCha8([32]byte{}).Read(noise)
	random.Results[0].Reason = hex.EncodeToString(noise)
	d := pageOf(t, sample(t), large, random)
	want := []string{"The JSON of workstation | bench (3) would not fit, not even compressed."}
	if !slices.Equal(d.Left, want) {
		t.Errorf("left out: %q, want %q", d.Left, want)
	}
	random.Results[0].Reason = "" // what it says may be long
	page := write(t, d)
	for i, e := range downloadElements(t, page) {
		if want := fmt.Sprintf("report-%d.json.gz", i+1); e.attrs["download"] != want {
			t.Errorf("file %q, want %q", e.attrs["download"], want)
		}
	}
	z, err := gzip.NewReader(bytes.NewReader(downloadsOf(t, page)[1]))
	if err != nil {
		t.Fatal(err)
	}
	got, err := results.Read(z)
	if err != nil || !reflect.DeepEqual(got, large) {
		t.Errorf("the report in the page is another one, %v", err)
	}
}
