package loader

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
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

// ErrContainer says that a path holds data in forms of other programs alone.
var ErrContainer = errors.New("no samples here, only formats of other programs")

// containers are forms of other programs, by the ends of their files' names.
var containers = map[string]string{".beton": "FFCV", ".rec": "MXNet RecordIO", ".mdb": "LMDB", ".lmdb": "LMDB",
	".h5": "HDF5", ".hdf5": "HDF5", ".parquet": "Parquet", ".arrow": "Arrow", ".mds": "MosaicML Streaming",
	".npz": "NumPy", ".npy": "NumPy", ".tfrecord": "TFRecord", ".tfrecords": "TFRecord"}

const packed = "a compressed archive"

// archive is the name of one: not any compressed file is.
var archive = regexp.MustCompile(`(?i)\.(zip|tgz|tar\.(gz|zst|bz2|xz|lz4))$`)

// numberedPart is the name of one of many files, as train-00000-of-01024: of TFRecords, unless
// it ends otherwise.
var numberedPart = regexp.MustCompile(`-\d{5}-of-\d{5}$`)

// containerOf says which program's form a file has by its name, "" if it is none of containers.
func containerOf(name string) string {
	switch {
	case numberedPart.MatchString(name):
		return "TFRecord"
	case archive.MatchString(name):
		return packed
	}
	return containers[strings.ToLower(path.Ext(name))]
}

// split is the name of a folder that holds a part of a data set: train, val2017, test_images.
var split = regexp.MustCompile(`(?i)^(train(ing)?|val(id(ation)?)?|test(ing)?|dev|eval)` +
	`([-_.]?(\d+|set|images|data))?$`)

// splitsIn names the folders train, val and so on that lie next to each other and hold all of
// files: then the whole is no data set. nil where it is one.
func splitsIn(files []File) (found []string) {
	last := ""
	for _, f := range files {
		dir := path.Dir(f.Path)
		if dir == last {
			continue
		}
		last = dir
		parts := strings.Split(dir, "/")
		name := path.Join(parts[:1+slices.IndexFunc(parts, split.MatchString)]...)
		// The folders of classes may have them inside.
		if name == "" || len(found) > 0 && path.Dir(name) != path.Dir(found[0]) {
			return nil
		}
		if !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	if len(found) < 2 {
		return nil
	}
	return found
}

// Bounds of the search for what may have been meant, and of the folders that a message names.
const (
	mostSearched = 20_000 // files and folders
	mostDeep     = 4
	mostNamed    = 4
)

// meant is what may have been meant by a path: folders of shards or records below it, and files of
// other programs' forms, of each form the first.
type meant struct {
	folders     []string
	forms       []string
	first       []string // "x.zip is a compressed archive"
	files, seen int
}

func (m *meant) look(rel string, e fs.DirEntry, err error) error {
	if m.seen++; m.seen > mostSearched {
		return fs.SkipAll
	}
	dir, name := path.Dir(rel), path.Base(rel)
	form := containerOf(name)
	switch {
	case err != nil || rel == ".":
	case hidden(name) || e.IsDir() && strings.Count(rel, "/") >= mostDeep:
		if e.IsDir() {
			return fs.SkipDir
		}
	case form != "":
		if m.files++; !slices.Contains(m.forms, form) {
			m.forms, m.first = append(m.forms, form), append(m.first, rel+" is "+form)
		}
	case !e.IsDir() && dir != "." && (isShard(rel) || isRecords(rel)) && !slices.Contains(m.folders, dir):
		m.folders = append(m.folders, dir)
	}
	return nil
}

// refused says why s is no data set, and what may have been meant; nil where it is one.
func (s *Set) refused(named string) error {
	m := meant{folders: splitsIn(s.Files)}
	if len(s.Samples) > 0 && m.folders == nil && containerOf(s.only) == "" {
		return nil
	}
	if m.folders == nil && s.Remote == nil {
		fs.WalkDir(os.DirFS(s.Root), cmp.Or(s.only, "."), m.look)
	}
	help, err := "", ErrContainer
	switch {
	case m.folders != nil:
		help, err = oneOf(m.folders), ErrNoSamples
	case slices.Equal(m.forms, []string{packed}):
		help = fmt.Sprintf("%s: unpack it and name the folder, or make .tar shards that are not compressed; "+
			"such files: %d", m.first[0], m.files)
	case m.forms != nil:
		help = fmt.Sprintf("%s, not read here: name the images that it was made of, or measure the loader that "+
			"reads it inside its script (dlbench help loaders); such files: %d",
			english.WordSeries(m.first, "and"), m.files)
	default:
		skipped := ListFaults(s.Skipped, 1, "; skipped %s: %s", "; %d more skipped")
		help, err = wanted+strings.Join(skipped, ""), ErrNoSamples
	}
	return &PathError{named, help, err}
}

const wanted = "no samples: want a folder of images or class folders, of .tar shards, or of .raw or .tensor records"

// oneOf says that one of several folders is to be named.
func oneOf(folders []string) string {
	var names []string
	for i, f := range folders {
		if i == mostNamed {
			names = append(names, fmt.Sprintf("%d more", len(folders)-i))
			break
		}
		names = append(names, f+"/")
	}
	return "found " + english.WordSeries(names, "and") + ": name the one to use"
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
