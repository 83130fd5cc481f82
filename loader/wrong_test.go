package loader

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrongPaths opens folders of files that are empty but for images, which are not looked into.
func TestWrongPaths(t *testing.T) {
	for _, c := range []struct {
		name, files string
		want        string // of the error; "" for none
	}{
		{"one level too high", "train/a/1.jpg train/b/2.jpg val/a/3.jpg",
			"found train/ and val/: name the one to use"},
		{"two levels", "Data/CLS/train/a/1.jpg Data/CLS/val/2.jpg Annotations/a.xml",
			"found Data/CLS/train/ and Data/CLS/val/"},
		{"three parts", "test_images/1.jpg train2017/1.jpg val2017/1.jpg",
			"found test_images/, train2017/ and val2017/: name the one to use"},
		{"one part", "train/a/1.jpg train/b/2.jpg", ""},
		{"classes of such names", "train/1.jpg valley/2.jpg", ""},
		{"parts within classes", "a/train/1.jpg a/test/2.jpg b/train/1.jpg b/test/2.jpg", ""},
		{"classes", "cat/1.jpg dog/2.jpg other.zip", ""},
		{"shards below", "shards/0.tar", "found shards/: name the one to use"},
		{"shards in parts", "train/0.tar train/1.tar val/0.tar", "found train/ and val/: name the one to use"},
		{"records in many", "a/0.raw b/0.raw c/0.raw d/0.raw e/0.raw", "found a/, b/, c/, d/ and 1 more: name"},
		{"nothing", "", "no samples: want a folder of images"},
		{"no images", "a.txt", "no samples: want a folder of images or class folders, of .tar shards"},
		{"FFCV", "x.beton", "x.beton is FFCV, not read here: name the images"},
		{"MXNet", "x.rec x.idx", "x.rec is MXNet RecordIO"},
		{"LMDB", "x/data.mdb x/lock.mdb", "x/data.mdb is LMDB"},
		{"HDF5", "x.h5", "x.h5 is HDF5"},
		{"Parquet", "data/x.PARQUET", "data/x.PARQUET is Parquet"},
		{"TFRecord", "train-00000-of-01024", "train-00000-of-01024 is TFRecord"},
		{"an archive", "images.zip", "images.zip is a compressed archive: unpack it"},
		{"several of a form", "a.zip b.zip c.ZIP", "are not compressed; such files: 3"},
		{"several forms", "0.mds x.beton y.beton",
			"0.mds is MosaicML Streaming and x.beton is FFCV, not read here: name the images that it was made of"},
		{"compressed shards", "0.tar.gz", "0.tar.gz is a compressed archive: unpack it"},
		{"another compression", "0.TAR.XZ", "0.TAR.XZ is a compressed archive: unpack it"},
		{"compressed, and no archive", "labels.csv.gz 0.tar.idx boxes.json.zst", "no samples: want a folder of images"},
	} {
		dir := t.TempDir()
		for file := range strings.FieldsSeq(c.files) {
			write(t, []byte("x"), dir, filepath.FromSlash(file))
		}
		_, err := Open(dir, "")
		wrong, ok := errors.AsType[*PathError](err)
		if c.want == "" && err != nil || c.want != "" && (!ok || !strings.Contains(wrong.Help, c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestPathsThatAreNotThere(t *testing.T) {
	file := write(t, []byte("x"), t.TempDir(), "x.beton")
	for path, want := range map[string]string{
		"gs://bucket/prefix": "gs://bucket/prefix: gs:// is not read here: copy the data to a disk",
		"/nonexistent/x":     "/nonexistent/x: no such file or folder",
		file:                 "x.beton is FFCV",
	} {
		if set, err := Open(path, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %q", path, set, err, want)
		}
	}
	if _, err := Open("/nonexistent/x", ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not that there is no such file", err)
	}
}
