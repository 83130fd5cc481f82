package page

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// downloadsOf decodes the reports in a page.
func downloadsOf(t *testing.T, page string) (all [][]byte) {
	t.Helper()
	for _, e := range parse(t, page) {
		if _, ok := e.attrs["download"]; !ok {
			continue
		}
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

func TestDownloadsFit(t *testing.T) {
	d := pageOf(t, sample(t), sample(t), sample(t))
	sizeOf := func(compress bool) (n int) {
		if err := d.pack(compress, maxSize); err != nil || len(d.Downloads) != 3 {
			t.Fatalf("%d packed, %v", len(d.Downloads), err)
		}
		for _, x := range d.Downloads {
			n += x.room()
		}
		return n
	}
	plain, zipped := sizeOf(false), sizeOf(true)
	if zipped > plain*2/3 {
		t.Errorf("compressed %d of %d bytes", zipped, plain)
	}
	for _, c := range []struct {
		room, want int
		extension  string
		left       []string
	}{
		{plain, 3, ".json", nil},
		{plain - 1, 3, ".json.gz", nil},
		{zipped, 3, ".json.gz", nil},
		{zipped - 1, 2, ".json.gz",
			[]string{"The JSON of workstation | bench (3) would not fit, not even compressed."}},
		{0, 0, "", []string{"The JSON of the reports would not fit, not even compressed."}},
	} {
		d.Left = nil
		err := d.addDownloads(c.room)
		if err != nil || !slices.Equal(d.Left, c.left) || len(d.Downloads) != c.want {
			t.Errorf("room %d: %d reports, left %q, %v; want %d, %q", c.room, len(d.Downloads), d.Left, err, c.want, c.left)
		}
		for i, x := range d.Downloads {
			if want := fmt.Sprintf("report-%d-workstation-bench", i+1); !strings.HasPrefix(x.File,
				want) || !strings.HasSuffix(x.File, c.extension) {
				t.Errorf("room %d: file %q, want %s...%s", c.room, x.File, want, c.extension)
			}
		}
	}
}
