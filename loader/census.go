package loader

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Census is what was found in reading every sample of a set whole.
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

// Bounds of what a census names.
const (
	mostSizes   = 10
	mostSlowest = 5
)

// counting makes a census of what was found of single samples.
type counting struct {
	set     *Set
	census  Census
	widths  []int64
	heights []int64
	bytes   []int64
	sizes   map[[2]int]int
	labels  map[int32]int
}

func newCounting(s *Set, n int) *counting {
	return &counting{set: s, sizes: map[[2]int]int{}, labels: map[int32]int{}, bytes: make([]int64, 0, n),
		census: Census{Store: s.Store, Bad: []Fault{}, Formats: map[string]int{}, Spaces: map[string]int{},
			Subsampling: map[string]int{}, Converted: map[string]int{}}}
}

// add takes in a sample.
func (c *counting) add(sample int32, f inspected) {
	n := &c.census
	x := c.set.Samples[sample]
	images := c.set.images()
	n.Images += images
	n.Bytes += x.Len
	c.bytes = append(c.bytes, x.Len)
	if c.set.Record == nil || c.set.Store == Raw {
		c.labels[x.Label]++
	} else if at := int(sample) * images; at+images <= len(c.set.Labels) {
		for _, label := range c.set.Labels[at : at+images] {
			c.labels[label]++
		}
	}
	at := c.set.Fault(sample, "")
	c.slowest(Slow{at.Path, at.Offset, f.took.Seconds()})
	c.describe(sample, f)
	switch {
	case f.err != nil:
		n.Bad = append(n.Bad, c.set.Fault(sample, strings.ReplaceAll(f.err.Error(), "\n", "; ")))
	case f.damage != "":
		n.Damaged += images
		n.Damage = append(n.Damage, c.set.Fault(sample, f.damage))
	default:
		n.Good += images
	}
}

// describe counts what the header says.
func (c *counting) describe(sample int32, f inspected) {
	n, info := &c.census, &f.info
	if info.Format == "" {
		return
	}
	n.Formats[info.Format]++
	if info.Width > 0 && f.err == nil {
		n.Pixels += info.Pixels()
		n.Largest = max(n.Largest, info.Pixels())
		c.widths = append(c.widths, int64(info.Width))
		c.heights = append(c.heights, int64(info.Height))
		c.sizes[[2]int{info.Width, info.Height}]++
	}
	if ext := strings.ToLower(path.Ext(c.set.Name(int(sample)))); c.set.Store == Files && formatOf[ext] != info.Format {
		n.Misnamed = append(n.Misnamed, c.set.Fault(sample, "holds "+info.Format))
	}
	count := func(m map[string]int, key string) {
		if key != "" {
			m[key]++
		}
	}
	count(n.Spaces, info.Space)
	count(n.Subsampling, info.Subsampling)
	count(n.Converted, f.converted)
	if info.Progressive {
		n.Progressive++
	}
	if info.Orientation > 1 {
		n.Oriented++
	}
}

// formatOf is the format that a name claims.
var formatOf = map[string]string{".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png", ".bmp": "bmp",
	".tif": "tiff", ".tiff": "tiff", ".webp": "webp", ".ppm": "pnm", ".pgm": "pnm"}

// slowest keeps the slowest, slowest first.
func (c *counting) slowest(s Slow) {
	slow := &c.census.Slowest
	i, _ := slices.BinarySearchFunc(*slow, s, func(a, b Slow) int { return cmp.Compare(b.Seconds, a.Seconds) })
	*slow = slices.Insert(*slow, i, s)
	*slow = (*slow)[:min(len(*slow), mostSlowest)]
}

// finish sums up. What was lost when the set was opened is bad, too.
func (c *counting) finish() *Census {
	n := &c.census
	for _, f := range c.set.Skipped {
		if f.Lost {
			n.Bad = append(n.Bad, f)
			n.Images++
		} else {
			n.Passed = append(n.Passed, f)
		}
	}
	n.Widths, n.Heights, n.FileBytes = spread(c.widths), spread(c.heights), spread(c.bytes)
	for size, images := range c.sizes {
		n.Sizes = append(n.Sizes, Count{fmt.Sprintf("%dx%d", size[0], size[1]), images})
	}
	slices.SortFunc(n.Sizes, func(a, b Count) int { return cmp.Or(b.Images-a.Images, strings.Compare(a.Name, b.Name)) })
	n.Sizes = n.Sizes[:min(len(n.Sizes), mostSizes)]
	c.classes()
	return n
}

// classes counts the images of each label, in the labels' order; one that runs past
// the list of classes is damage of the set.
func (c *counting) classes() {
	for _, label := range slices.Sorted(maps.Keys(c.labels)) {
		name := fmt.Sprint(label)
		switch {
		case label < 0:
			name = "no label"
		case int(label) < len(c.set.Classes):
			name = c.set.Classes[label]
		case c.set.Classes != nil:
			name += " (past the list of classes)"
		}
		c.census.Labels = append(c.census.Labels, Count{name, c.labels[label]})
	}
}

func spread(values []int64) Range {
	if len(values) == 0 {
		return Range{}
	}
	slices.Sort(values)
	return Range{values[0], values[len(values)/2], values[len(values)-1]}
}
