package bench_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/loader"
)

func TestGivenData(t *testing.T) {
	d := benchtest.Data(t)
	files := d.Sets[loader.Files].Root
	got, err := bench.OpenData(t.Context(), bench.Options{Data: files, Batch: theory.Batch{Images: 4}, Root: "/"})
	if err != nil || len(got.Sets) != 1 || got.Sets[loader.Files] == nil || got.Made {
		t.Errorf("%+v, %v", got, err)
	}
	few := t.TempDir()
	benchtest.JPEGs(t, few, 3)
	for name, o := range map[string]bench.Options{
		"no such":    {Data: filepath.Join(files, "nowhere"), Batch: theory.Batch{Images: 4}},
		"no samples": {Data: t.TempDir(), Batch: theory.Batch{Images: 4}},
		"less than":  {Data: few, Batch: theory.Batch{Images: 4}},
	} {
		var u *bench.UsageError
		_, err := bench.OpenData(t.Context(), o)
		if !errors.As(err, &u) || u.Flag != "--data" || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One bad file ends no run, is named, and leaves the others; a strict run refuses.
func TestDataCheck(t *testing.T) {
	dir := t.TempDir()
	benchtest.JPEGs(t, dir, 12)
	for name, data := range map[string]string{"class0/bad.jpg": "no image", "class1/empty.jpg": ""} {
		benchtest.Write(t, filepath.Join(dir, name), data)
	}
	o := bench.Options{Data: dir, Batch: benchtest.SmallBatch, Seed: 1}
	d, err := bench.OpenData(t.Context(), o)
	benchtest.Must(t, err)
	benchtest.Must(t, d.Check(t.Context(), o))
	if len(d.Images.Samples) != 12 || len(d.Checked.Bad) != 2 {
		t.Errorf("%d samples are left, bad %v", len(d.Images.Samples), d.Checked.Bad)
	}
	_, lines := d.Describe()
	for _, name := range []string{"class0/bad.jpg", "class1/empty.jpg"} {
		if n := strings.Count(strings.Join(lines, "\n"), name); n != 1 {
			t.Errorf("%s is named %d times in %v", name, n, lines)
		}
	}
	o.Strict = true
	if d, err = bench.OpenData(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := d.Check(t.Context(), o); err == nil || !strings.Contains(err.Error(), "2 of 14") {
		t.Errorf("strict: %v", err)
	}
}
