package bench

import (
	"context"
	"dlbench/bench/theory"
	"dlbench/loader"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGivenData(t *testing.T) {
	d := testData(t)
	files := d.Sets[loader.Files].Root
	got, err := openData(t.Context(), Options{Data: files, Batch: theory.Batch{Images: 4}}, "/")
	if err != nil || len(got.Sets) != 1 || got.Sets[loader.Files] == nil || got.Made {
		t.Errorf("%+v, %v", got, err)
	}
	for name, o := range map[string]Options{
		"no such":    {Data: filepath.Join(files, "nowhere"), Batch: theory.Batch{Images: 4}},
		"no samples": {Data: t.TempDir(), Batch: theory.Batch{Images: 4}},
		"less than":  {Data: files, Batch: theory.Batch{Images: 41}},
	} {
		var u *UsageError
		if _, err := openData(context.Background(), o, "/"); !errors.As(err, &u) || u.Flag != "--data" || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One bad file ends no run, is named, and leaves the others; a strict run refuses.
func TestDataCheck(t *testing.T) {
	dir := t.TempDir()
	jpegs(t, dir, 12)
	for name, data := range map[string]string{"class0/bad.jpg": "no image", "class1/empty.jpg": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Data: dir, Batch: smallBatch, Seed: 1}
	d, err := openData(t.Context(), o, "/")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.check(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if len(d.Images.Samples) != 12 || len(d.Checked.Bad) != 2 {
		t.Errorf("%d samples are left, bad %v", len(d.Images.Samples), d.Checked.Bad)
	}
	_, skipped := d.describe()
	for _, name := range []string{"class0/bad.jpg", "class1/empty.jpg"} {
		n := 0
		for _, line := range append(skipped, d.found()...) {
			if strings.Contains(line, name) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is named %d times in %v and %v", name, n, skipped, d.found())
		}
	}
	o.Strict = true
	if d, err = openData(t.Context(), o, "/"); err != nil {
		t.Fatal(err)
	}
	if err := d.check(t.Context(), o); err == nil || !strings.Contains(err.Error(), "2 of 14") {
		t.Errorf("strict: %v", err)
	}
}
