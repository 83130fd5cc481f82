package loader

import "fmt"

// Census is what reading every sample of a set whole has told.
type Census struct {
	Store       string         `json:"store"`
	Interrupted bool           `json:"interrupted,omitempty"` // not all samples were read
	Images      int            `json:"images"`                // Good, Damaged and Bad; of a bad record each image
	Good        int            `json:"good"`
	Damaged     int            `json:"damaged"` // decoded, with a warning
	Bad         []Fault        `json:"bad"`     // cannot be used, and why
	Damage      []Fault        `json:"damage,omitempty"`
	Passed      []Fault        `json:"passed,omitempty"` // what was no sample and was not meant to be one
	Bytes       int64          `json:"bytes"`
	Pixels      int64          `json:"pixels,omitempty"`
	Largest     int64          `json:"largest,omitempty"` // image, in pixels
	Decoder     string         `json:"decoder,omitempty"`
	Seconds     float64        `json:"seconds"`
	Formats     map[string]int `json:"formats,omitempty"`      // jpeg, png, ...
	Misnamed    []Fault        `json:"misnamed,omitempty"`     // whose name says another format
	Spaces      map[string]int `json:"color_spaces,omitempty"` // ycbcr, gray, cmyk, ...
	Subsampling map[string]int `json:"subsampling,omitempty"`  // of JPEG's chroma
	Progressive int            `json:"progressive,omitempty"`
	Oriented    int            `json:"exif_oriented,omitempty"` // whose EXIF orientation is ignored, as torchvision does
	Converted   map[string]int `json:"converted,omitempty"`     // to RGB of 8 bits, from what
	Widths      Range          `json:"width"`
	Heights     Range          `json:"height"`
	FileBytes   Range          `json:"file_bytes"`
	Sizes       []Count        `json:"sizes,omitempty"`  // the most frequent ones, 500x375
	Labels      []Count        `json:"labels,omitempty"` // images of each class
	Slowest     []Slow         `json:"slowest,omitempty"`
}

// Fault is a sample with something wrong.
type Fault struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset,omitempty"` // in a shard
	Reason string `json:"reason"`
}

// Count is how often something is there.
type Count struct {
	Name   string `json:"name"`
	Images int    `json:"images"`
}

// Range is the spread of a quantity.
type Range struct {
	Min    int64 `json:"min"`
	Median int64 `json:"median"`
	Max    int64 `json:"max"`
}

// Slow is an image that took long to decode.
type Slow struct {
	Path    string  `json:"path"`
	Offset  int64   `json:"offset,omitempty"`
	Seconds float64 `json:"seconds"`
}

// At is the place: a path, and in a shard the offset.
func (f Fault) At() string {
	if f.Offset == 0 {
		return f.Path
	}
	return fmt.Sprintf("%s at %d", f.Path, f.Offset)
}
