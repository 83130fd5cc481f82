package loader

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
)

// PathError is a path that is no data set as it was named, with what to do about it.
type PathError struct {
	Path string
	Help string
	Err  error
}

func (e *PathError) Error() string { return e.Path + ": " + e.Help }

func (e *PathError) Unwrap() error { return e.Err }

// containers are forms of other programs, by the ends of their files' names.
var containers = []struct {
	what string
	ends []string
}{
	{"FFCV", []string{".beton"}},
	{"MXNet RecordIO", []string{".rec"}},
	{"LMDB", []string{".mdb", ".lmdb"}},
	{"HDF5", []string{".h5", ".hdf5"}},
	{"Parquet", []string{".parquet"}},
	{"Arrow", []string{".arrow"}},
	{"MosaicML Streaming", []string{".mds"}},
	{"NumPy", []string{".npz", ".npy"}},
	{"TFRecord", []string{".tfrecord", ".tfrecords"}},
	{"an archive", []string{".zip"}},
	{"a compressed archive", []string{".tgz", ".tar.gz", ".tar.zst"}},
}

// numberedPart is the name of one of many files, as train-00000-of-01024: of TFRecords, unless
// it ends otherwise.
var numberedPart = regexp.MustCompile(`-\d{5}-of-\d{5}$`)

// containerOf says which program's form a file has by its name, "" if it is none of containers.
func containerOf(name string) string {
	name = strings.ToLower(name)
	for _, c := range containers {
		ends := func(end string) bool { return strings.HasSuffix(name, end) }
		if slices.ContainsFunc(c.ends, ends) {
			return c.what
		}
	}
	if numberedPart.MatchString(name) {
		return "TFRecord"
	}
	return ""
}

// ErrContainer says that a path holds data in forms of other programs alone.
var ErrContainer = errors.New("no samples here, only formats of other programs")

// containersFound are files of such forms: of each form the first, and how many.
type containersFound struct {
	forms, first []string
	files        map[string]int
}

func (c *containersFound) add(name, what string) {
	if c.files == nil {
		c.files = map[string]int{}
	}
	if c.files[what]++; c.files[what] == 1 {
		c.forms, c.first = append(c.forms, what), append(c.first, name)
	}
}

// help says what they are and what to do about them.
func (c *containersFound) help() string {
	var are []string
	archives := true
	for i, what := range c.forms {
		archives = archives && strings.HasSuffix(what, "archive")
		name := c.first[i] + " is " + what
		if n := c.files[what]; n > 1 {
			name += fmt.Sprintf(" (%d files)", n)
		}
		are = append(are, name)
	}
	found := english.WordSeries(are, "and")
	if archives {
		return found + ": unpack it and name the folder, or make .tar shards that are not compressed"
	}
	which := "which is not"
	if len(are) > 1 {
		which = "none of which is"
	}
	return found + ", " + which + " read here: name the images that it was made of, " +
		"or measure the loader that reads it inside its script (dlbench help loaders)"
}

// wanted is what a data set can be.
const wanted = "want a folder of images or class folders, of .tar shards, or of .raw or .tensor records"

// split is the name of a folder that holds a part of a data set: train, val2017, test_images.
var split = regexp.MustCompile(`(?i)^(train(ing)?|val(id(ation)?)?|test(ing)?|dev|eval)` +
	`([-_.]?(\d+|set|images|data))?$`)

// splitsIn names the folders train, val and so on that lie next to each other and hold all of
// files: then the whole is no data set. nil where it is one.
func splitsIn(files []File) (found []string) {
	in, last := "", ""
	for _, f := range files {
		dir := path.Dir(f.Path)
		if dir == last {
			continue
		}
		last = dir
		parts := strings.Split(dir, "/")
		i := slices.IndexFunc(parts, split.MatchString)
		if i < 0 {
			return nil
		}
		parent, name := path.Join(parts[:i]...), path.Join(parts[:i+1]...)
		if len(found) > 0 && parent != in {
			return nil // the folders of classes may have them inside
		}
		in = parent
		if !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	if len(found) < 2 {
		return nil
	}
	return found
}

// oneOf says that one of several folders is to be named.
func oneOf(folders []string) string {
	var names []string
	for _, f := range folders[:min(len(folders), mostNamed)] {
		names = append(names, f+"/")
	}
	if more := len(folders) - mostNamed; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return "found " + english.WordSeries(names, "and") + ": using none; name one of them"
}

// mostNamed is how many folders a message names.
const mostNamed = 4

// Bounds of the search for what may have been meant.
const (
	mostSearched = 20_000 // files and folders
	mostDeep     = 4
)

// explain says why there is no sample in the folder of s, and what may have been meant.
func (s *Set) explain() (help string, err error) {
	var containers containersFound
	var shards []File
	var within []string
	seen := 0
	filepath.WalkDir(s.Root, func(full string, e fs.DirEntry, err error) error {
		rel, bad := filepath.Rel(s.Root, full)
		if err = cmp.Or(err, bad); err != nil || rel == "." {
			return nil
		}
		rel = filepath.ToSlash(rel)
		if seen++; seen > mostSearched {
			return fs.SkipAll
		}
		switch kind := containerOf(rel); {
		case e.IsDir() && (hidden(e.Name()) || strings.Count(rel, "/") >= mostDeep):
			return fs.SkipDir
		case kind != "" && !hidden(e.Name()):
			containers.add(rel, kind)
		case !e.IsDir() && strings.Contains(rel, "/") && (isShard(rel) || isRecords(rel)):
			shards = append(shards, File{Path: rel})
			if dir := path.Dir(rel); !slices.Contains(within, dir) {
				within = append(within, dir)
			}
		}
		return nil
	})
	switch {
	case len(within) == 1:
		return fmt.Sprintf("no images here, but shards or records in %s/: name that folder", within[0]), ErrNoSamples
	case len(within) > 1:
		if splits := splitsIn(shards); splits != nil {
			within = splits
		}
		return oneOf(within), ErrNoSamples
	case containers.files != nil:
		return containers.help(), ErrContainer
	case seen == 0:
		return "no samples, the folder is empty: " + wanted, ErrNoSamples
	}
	return s.nothing(), ErrNoSamples
}

// nothing says that there is no sample, and what was skipped.
func (s *Set) nothing() string {
	text := "no samples: " + wanted
	if len(s.Skipped) > 0 {
		first := s.Skipped[0]
		text += fmt.Sprintf("; %d skipped, the first %s: %s", len(s.Skipped), first.At(), first.Reason)
	}
	return text
}

// refuse makes errors of a path that cannot be opened, with what to do.
func refuse(name string, err error) error {
	why := reason(err)
	switch {
	case strings.Contains(name, "://"):
		scheme, _, _ := strings.Cut(name, "://")
		why = scheme + ":// is not read here: copy the data to a disk or to s3://, or mount it, and name the folder"
	case errors.Is(err, fs.ErrNotExist):
		why = "no such file or folder"
	}
	return &PathError{name, why, err}
}
