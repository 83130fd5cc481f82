package synth

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"

	"dlbench/loader"
)

// infoVersion is the version of loader.InfoName. Fields may be added under it.
const infoVersion = 1

type Info struct {
	FormatVersion int            `json:"format_version"`
	Store         string         `json:"store"`
	Images        int            `json:"images"`
	Bytes         int64          `json:"bytes"`               // of all samples, without headers and padding
	LeftOver      int            `json:"left_over,omitempty"` // images that filled no record
	Classes       int            `json:"classes"`
	Fingerprint   string         `json:"fingerprint"`
	Files         int            `json:"files"`      // without loader.InfoName
	DiskBytes     int64          `json:"disk_bytes"` // of those files
	Made          *Made          `json:"made,omitempty"`
	Tensor        *loader.Record `json:"tensor,omitempty"` // of raw and tensor stores
}

// Made says how a generated set can be made again. Its pixels depend on the
// generator's version and the seed, its JPEG bytes on the Go release's encoder too.
type Made struct {
	Generator int    `json:"generator"`
	Seed      uint64 `json:"seed"`
	Go        string `json:"go"`
}

func ReadInfo(dir string) (Info, error) {
	path := filepath.Join(dir, loader.InfoName)
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
	data, _ := json.MarshalIndent(i, "", "  ") // which cannot fail
	return os.WriteFile(filepath.Join(dir, loader.InfoName), append(data, '\n'), 0o644)
}

// intact checks number and total size of the files of a set. It reads none.
func intact(dir string) bool {
	info, unread := ReadInfo(dir)
	files, size, err := usage(dir)
	return unread == nil && err == nil && files == info.Files && size == info.DiskBytes
}

// usage is the number and total size of the files below a folder, without loader.InfoName.
func usage(dir string) (files int, size int64, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path == filepath.Join(dir, loader.InfoName) {
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

// fingerprint identifies a set by what its samples hold: whole image files, or images
// of a tensor without padding. It does not depend on their order, names or labels, nor
// on where one file ends and the next begins, so that a folder of images and the shards
// made of it have the same. The zero value is the fingerprint of an empty set.
type fingerprint struct {
	count uint64
	sum   [4]uint64 // of the SHA-256 of each sample, modulo 2^256
}

func (f *fingerprint) add(data []byte) {
	d := sha256.Sum256(data)
	f.count++
	var carry uint64
	for i := range f.sum {
		f.sum[i], carry = bits.Add64(f.sum[i], binary.LittleEndian.Uint64(d[8*i:]), carry)
	}
}

func (f *fingerprint) String() string {
	b := binary.LittleEndian.AppendUint64(nil, f.count)
	for _, v := range f.sum {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
