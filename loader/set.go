// Package loader is the data loader under test: it finds the samples of a data
// set, reads them, and hands over whole batches.
package loader

import (
	"errors"
	"fmt"
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

// ErrNoSamples says that a path holds nothing that can be read as a sample.
var ErrNoSamples = errors.New("no samples")

// Set is an opened data set: which bytes of which files are its samples. It is
// not changed after Open, and safe for several goroutines.
type Set struct {
	Store   string
	Root    string // what was opened; paths of Files are relative to it
	Files   []File
	Samples []Sample
	Classes []string  // by label; nil where labels have no names
	Record  *Record   // of raw and tensor stores
	Labels  []int32   // of a tensor store: sample i has those from i*Record.Images on; empty where the files have none
	Skipped []Skipped // what cannot be a sample, and why
	Bytes   int64     // of all samples
}

// Name says where sample i lies: its file, and in a shard its offset.
func (s *Set) Name(i int) string {
	sample := s.Samples[i]
	if s.Store == Files {
		return s.Files[sample.File].Path
	}
	return fmt.Sprintf("%s at %d", s.Files[sample.File].Path, sample.Off)
}

// File is a file that holds samples.
type File struct {
	Path string // relative to the set's root, with slashes
	Size int64
}

// Sample is one sample: Len bytes at Off of a file.
type Sample struct {
	File  int32 // index into Files
	Label int32 // -1 for none
	Off   int64
	Len   int64
}

// Record is the shape of the samples of a raw or tensor store.
type Record struct {
	Images   int // in a record: 1 for raw, the batch for tensor
	Height   int
	Width    int
	Channels int
	DType    string // float32, float16, uint8
	Layout   string // nhwc, nchw
	Stride   int64  // bytes from one record to the next: the record padded to BlockSize
}

// Skipped is a file, or a place in a shard, that is no sample.
type Skipped struct {
	Path   string
	Offset int64 // in a shard; 0 for a whole file
	Reason string
	Lost   bool // a sample was meant there, as far as can be told
}

// BlockSize is what records and buffers are aligned to, so that direct I/O, which
// wants the logical block size of the device, 512 or 4096, can read them.
const BlockSize = 4096

// Order is how the samples of a set are visited.
type Order struct {
	Shuffle bool
	Seed    uint64
	Epoch   uint64
}
