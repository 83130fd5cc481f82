// Package loader is the data loader under test: it finds the samples of a data
// set, reads them, and delivers whole batches.
package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Forms of a data set on disk.
const (
	Files  = "files"  // a folder of class folders with one image a file, as torchvision's ImageFolder
	Tar    = "tar"    // WebDataset shards
	Raw    = "raw"    // fixed-size records behind a header: preprocessed tensors, one a sample
	Tensor = "tensor" // whole batches back to back behind a header
)

// Stores are the forms, in the order in which tables list them.
var Stores = []string{Files, Tar, Raw, Tensor}

// InfoName is the file that a set may have in its folder to say what it is. It is not
// listed among what was skipped.
const InfoName = "dataset.json"

// MostSample is the largest sample that a set may have, in bytes. Larger ones are
// skipped: a reader keeps a buffer of the largest.
const MostSample = 1 << 30

// Errors that callers decide on.
var (
	// ErrNoSamples says that a path holds nothing that can be read as a sample.
	ErrNoSamples = errors.New("no samples")
	// ErrNoDirect says that a file system or a device does not do direct I/O.
	ErrNoDirect = errors.New("direct I/O is not possible")
	// ErrTooManyOpen says that the process may open no more files.
	ErrTooManyOpen = errors.New("too many open files")
)

// Set is an opened data set: which bytes of which files are its samples. It is
// not changed after Open, and safe for several goroutines.
type Set struct {
	Store   string
	Root    string // what was opened; paths of Files are relative to it
	Files   []File
	Samples []Sample
	Classes []string // by label; nil where labels have no names
	Record  *Record  // of raw and tensor stores
	Labels  []int32  // of a tensor store: sample i has those from i*Record.Images on; empty where the files have none
	Skipped []Fault  // what cannot be a sample, and why
	Bytes   int64    // of all samples
	Remote  Remote   // that has the files; nil for a file system

	only string // the name of the file, in Root, that was opened alone; "" for a folder
}

type File struct {
	Path string // relative to the set's root, with slashes
	Size int64
	ETag string // of an object: another one when it changed; "" for files
}

// Sample is one sample: Len bytes at Off of a file.
type Sample struct {
	File  int32 // index into Files
	Label int32 // -1 for none
	Off   int64
	Len   int64
}

// Fault is a file, or a place in a shard, with something wrong.
type Fault struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset,omitempty"` // in a shard; 0 for a whole file
	Reason string `json:"reason"`
	Lost   bool   `json:"-"` // a sample was meant there, as far as can be seen

	err error // the system's, if that is why
}

func lost(path string, err error) Fault {
	return Fault{Path: path, Reason: reason(err), Lost: true, err: err}
}

// MarshalJSON writes the path as At does.
func (f Fault) MarshalJSON() ([]byte, error) {
	type plain Fault
	f.Path = Escape(f.Path)
	return json.Marshal(plain(f))
}

// Escape is a name as text, so that different names differ: bytes that are not UTF-8, what
// cannot be printed, quotes and backslashes are escaped as in Go. strconv.Unquote, between
// quotes, gives the name back.
func Escape(name string) string {
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}

// At is the place: a path, and in a shard the offset.
func (f Fault) At() string {
	if f.Offset == 0 {
		return Escape(f.Path)
	}
	return fmt.Sprintf("%s at %d", Escape(f.Path), f.Offset)
}

// ListFaults says where faults are and why, by a format for the two, at most of so many, and
// how many more there are, by a format for that.
func ListFaults(faults []Fault, most int, one, more string) (lines []string) {
	for _, f := range faults[:min(len(faults), most)] {
		lines = append(lines, fmt.Sprintf(one, f.At(), f.Reason))
	}
	if n := len(faults) - most; n > 0 {
		lines = append(lines, fmt.Sprintf(more, n))
	}
	return lines
}

// Fault is what is wrong with sample i.
func (s *Set) Fault(i int32, why string) Fault {
	sample := s.Samples[i]
	f := Fault{Path: s.Files[sample.File].Path, Reason: why}
	if s.Store != Files {
		f.Offset = sample.Off
	}
	return f
}

// Name says where sample i lies: its file, and in a shard its offset.
func (s *Set) Name(i int) string { return s.Fault(int32(i), "").At() }

// Only is s with these of its samples alone, in this order. Not for tensor stores with
// labels.
func (s *Set) Only(samples []int32) *Set {
	t := *s
	t.Samples, t.Labels, t.Bytes = make([]Sample, 0, len(samples)), nil, 0
	for _, k := range samples {
		t.add(s.Samples[k])
	}
	return &t
}

func (s *Set) images() int {
	if s.Record == nil {
		return 1
	}
	return s.Record.Images
}

// Open finds the samples below path, a directory or a single file. Store is one of Stores, or
// "" to go by what is there: a directory with *.tar files is a tar store, unless the folders next to them have
// more bytes of images; one with record files (*.raw, *.tensor) a raw or tensor store, and
// any other a folder of images.
//
// What cannot be a sample is listed in Skipped, never an error. A set without samples
// is one: ErrNoSamples, with the set as well. So is a folder that holds several data sets,
// such as train and val. What is wrong with the path is a PathError. The order of files
// and samples depends on their names alone.
func Open(path, store string) (*Set, error) {
	if store != "" && !slices.Contains(Stores, store) {
		return nil, fmt.Errorf("unknown store %q: want %s", store, strings.Join(Stores, ", "))
	}
	s, err := openAs(filepath.Clean(path), store)
	if err != nil {
		return nil, refuse(path, err)
	}
	if err := s.limits(); err != nil {
		return nil, err
	}
	return s, s.refused(path)
}

// openAs opens path as the first store that is there, or as the one that is named.
func openAs(path, store string) (*Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	s := &Set{Store: store, Root: path}
	var names []string
	if info.IsDir() {
		names, err = containing(path)
	} else {
		s.Root, s.only = filepath.Dir(path), filepath.Base(path)
		names = []string{s.only}
	}
	as := func(kind string) bool { return err == nil && (store == "" || store == kind) }
	switch {
	case as(Tar) && s.openTar(names):
		if store == "" && s.only == "" {
			s, err = s.beside()
		}
	case as(Raw) && s.openRecords(Raw, names), as(Tensor) && s.openRecords(Tensor, names):
	case as(Files):
		s.Store, s.Skipped = Files, nil
		err = s.openFiles()
	}
	return s, err
}

// limits is the first error of opening that is OfMachine.
func (s *Set) limits() error {
	for _, f := range s.Skipped {
		if OfMachine(f.err) {
			return fmt.Errorf("%s: %w", f.At(), limited(f.err))
		}
	}
	return nil
}

// beside is what a directory of the shards s holds: these or the images next to them, whichever
// are more bytes. What is passed over is said.
func (s *Set) beside() (*Set, error) {
	images := &Set{Store: Files, Root: s.Root}
	if err := images.walk(); err != nil || len(images.Samples) == 0 {
		return s, err
	}
	chosen, other := s, images
	if images.Bytes >= s.Bytes {
		chosen, other = images, s
	}
	if n := len(other.Samples); n > 0 {
		why := fmt.Sprintf("%d images in the same folder, in store %s, are left out", n, other.Store)
		chosen.Skipped = append(chosen.Skipped, Fault{Path: other.Files[0].Path, Reason: why, Lost: true})
	}
	return chosen, nil
}

// add takes in a sample.
func (s *Set) add(x Sample) {
	s.Samples = append(s.Samples, x)
	s.Bytes += x.Len
}

func isShard(name string) bool { return strings.EqualFold(filepath.Ext(name), ".tar") }

func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// containing are the visible files of a directory that may contain several samples, in order.
func containing(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if name := e.Name(); !hidden(name) && (isShard(name) || isRecords(name)) {
			names = append(names, name)
		}
	}
	return names, err
}

// openRegular opens a file for reading unless it is something on which that could
// block, and returns its size.
func openRegular(full string) (*os.File, int64, error) {
	info, err := os.Stat(full)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(full)
	return f, info.Size(), err
}

// OfMachine says whether an error is for want of what the machine limits, open files or memory, or the
// user, bytes over the network, and so says nothing of the data.
func OfMachine(err error) bool {
	return errors.Is(err, ErrTooManyOpen) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOMEM) || errors.Is(err, ErrMostBytes)
}

// limited adds to an error that is OfMachine what can be done.
func limited(err error) error {
	if errors.Is(err, ErrTooManyOpen) || errors.Is(err, syscall.EMFILE) {
		return fmt.Errorf("%w: the limit is %d; raise it (ulimit -n) or use fewer readers", err, openLimit())
	}
	return err
}

// reason is what to say about a file that could not be looked at: the cause,
// without the path that a PathError repeats.
func reason(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "dangling link, or removed meanwhile"
	}
	if errors.Is(err, fs.ErrPermission) {
		return "no permission to read it"
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return err.Error()
}

// Parallel calls do for the numbers below n, several at once: more than there may be
// processors, since it waits for metadata or the network.
func Parallel(n int, do func(i int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			do(i)
			<-slots
		})
	}
	wg.Wait()
}
