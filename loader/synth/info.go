package synth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"dlbench/loader"
)

// InfoName is the file in a set's folder that says what the set is.
const InfoName = loader.InfoName

// infoVersion is the version of that file. Fields may be added under it.
const infoVersion = 1

// Info is what InfoName holds.
type Info struct {
	FormatVersion int     `json:"format_version"`
	Store         string  `json:"store"`
	Images        int     `json:"images"`
	Bytes         int64   `json:"bytes"`               // of all samples, without headers and padding
	LeftOver      int     `json:"left_over,omitempty"` // images that filled no record
	Classes       int     `json:"classes"`
	Fingerprint   string  `json:"fingerprint"`
	Files         int     `json:"files"`      // beside InfoName
	DiskBytes     int64   `json:"disk_bytes"` // of those files
	Made          *Made   `json:"made,omitempty"`
	Packed        *Packed `json:"packed,omitempty"`
	Tensor        *Tensor `json:"tensor,omitempty"` // of raw and tensor stores
}

// Made says how a generated set can be made again. Its pixels depend on the
// generator's version and the seed, its JPEG bytes on the Go release's encoder too.
type Made struct {
	Generator int    `json:"generator"`
	Seed      uint64 `json:"seed"`
	Go        string `json:"go"`
}

// Packed says what a converted set was made from.
type Packed struct {
	Store   string `json:"store"`
	Images  int    `json:"images"`
	Skipped int    `json:"skipped"`
}

// Tensor is the shape of what a raw or tensor store holds.
type Tensor struct {
	Batch    int    `json:"batch"` // images in a record
	Height   int    `json:"height"`
	Width    int    `json:"width"`
	Channels int    `json:"channels"`
	DType    string `json:"dtype"`
	Layout   string `json:"layout"`
}

func tensorOf(r *loader.Record) *Tensor {
	if r == nil {
		return nil
	}
	return &Tensor{r.Images, r.Height, r.Width, r.Channels, r.DType, r.Layout}
}

// ReadInfo reads what InfoName in a folder says.
func ReadInfo(dir string) (Info, error) {
	path := filepath.Join(dir, InfoName)
	data, err := os.ReadFile(path)
	if err != nil {
		return Info{}, err
	}
	var info Info
	if err := json.Unmarshal(data, &info); err != nil {
		return Info{}, fmt.Errorf("%s: %w", path, err)
	}
	if info.FormatVersion != infoVersion {
		return Info{}, fmt.Errorf("%s: format_version %d: this dlbench knows %d", path, info.FormatVersion, infoVersion)
	}
	return info, nil
}

func (i Info) write(dir string) error {
	data, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, InfoName), append(data, '\n'), 0o644)
}

// errChanged says that a set is not what its InfoName says.
var errChanged = errors.New("files are missing or changed")

// intact checks number and total size of the files of a set. It reads none.
func (i Info) intact(dir string) error {
	files, size, err := usage(dir)
	if err != nil {
		return err
	}
	if files != i.Files || size != i.DiskBytes {
		return fmt.Errorf("%s: %w: %d of %d bytes, %d of %d bytes", dir, errChanged, files, size, i.Files, i.DiskBytes)
	}
	return nil
}

// usage is the number and total size of the files below a folder, without InfoName.
func usage(dir string) (files int, size int64, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path == filepath.Join(dir, InfoName) {
			return err
		}
		st, err := e.Info()
		if err != nil {
			return err
		}
		files++
		size += st.Size()
		return nil
	})
	return files, size, err
}
