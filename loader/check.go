package loader

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"
	"unique"

	"dlbench/loader/decode"
)

// Census is what was found in reading every sample of a set whole.
type Census struct {
	Store       string  `json:"store"`
	Shards      int     `json:"shards,omitempty"`      // of a tar store, with samples
	Interrupted bool    `json:"interrupted,omitempty"` // not all samples were read
	Images      int     `json:"images"`                // Good, Damaged, Bad and Unsupported; of a bad record each image
	Good        int     `json:"good"`
	Damaged     int     `json:"damaged"` // decoded, with a warning
	Bad         []Fault `json:"bad"`     // cannot be used, and why
	// valid, but of a format or with a feature that nothing here decodes
	Unsupported []Fault        `json:"not_decoded_here,omitempty"`
	Damage      []Fault        `json:"damage,omitempty"`
	Passed      []Fault        `json:"passed,omitempty"` // what was no sample and was not meant to be one
	Stops       Stops          `json:"stops,omitzero"`   // what would stop the programs that people read images with
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
	// whose EXIF orientation is ignored, as torchvision does
	Oriented  int            `json:"exif_oriented,omitempty"`
	Converted map[string]int `json:"converted,omitempty"` // to RGB of 8 bits, from what
	Widths    Range          `json:"width,omitzero"`
	Heights   Range          `json:"height,omitzero"`
	FileBytes Range          `json:"file_bytes,omitzero"`
	Sizes     []Count        `json:"sizes,omitempty"`  // the most frequent ones, 500x375
	Labels    []Count        `json:"labels,omitempty"` // images of each class
	Slowest   []Slow         `json:"slowest,omitempty"`

	set     *Set
	checked []int32 // samples, so far
	labels  map[int32]int
	sizes   map[[2]int]int
}

// Count is how often something is there.
type Count struct {
	Name   string `json:"name"`
	Images int    `json:"images"`
}

// Counts are names with how often they are there, most often first.
func Counts(of map[string]int) (all []Count) {
	for name, n := range of {
		all = append(all, Count{name, n})
	}
	slices.SortFunc(all, func(a, b Count) int { return cmp.Or(b.Images-a.Images, strings.Compare(a.Name, b.Name)) })
	return all
}

// Usable is how many images can be used.
func (c *Census) Usable() int { return c.Good + c.Damaged }

// Flawed says in words how many images are not good; "" for none.
func (c *Census) Flawed() string {
	var parts []string
	for _, x := range []Count{{"bad", len(c.Bad)}, {"damaged", c.Damaged}, {"not decoded here", len(c.Unsupported)}} {
		if x.Images > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.Images, x.Name))
		}
	}
	return strings.Join(parts, ", ")
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

// MarshalJSON writes the path escaped, as Fault's does.
func (s Slow) MarshalJSON() ([]byte, error) {
	type plain Slow
	s.Path = Escape(s.Path)
	return json.Marshal(plain(s))
}

// CheckOptions says how samples are checked.
type CheckOptions struct {
	Decoder   string        // one of decode.Kinds; "" is decode.Auto
	Threads   int           // 0: as many as there are processors
	TimeLimit time.Duration // for an image; 0 is DefaultTimeLimit
	Samples   []int32       // which; nil: all
	Progress  func(done, total int)
	Memory    *decode.Memory // that all decoding shares; nil for no bound

	inspect func(sample int32) inspected // for tests; nil: read and decode
}

// files is how much memory there is for what is read of files, 0 for no bound: half of what
// there is for their pictures, which are decoded beside it.
func (o *CheckOptions) files() int64 { return o.Memory.Bytes() / 2 }

// buffers is for how many readers of a set there is memory.
func (o *CheckOptions) buffers(s *Set) int {
	room := o.files()
	if room == 0 {
		return o.Threads
	}
	return int(room / min(s.BufferBytes(), room)) // what is larger is not read
}

// DefaultTimeLimit is how long an image may take to be read and decoded before it counts as bad.
const DefaultTimeLimit = 10 * time.Second

// Bounds of a check.
const (
	mostSizes   = 10  // that a census names
	mostSlowest = 5   // as well
	mostStuck   = 16  // decoders that stand still before it gives up: each keeps a thread and its memory
	checkAhead  = 256 // samples that it goes on while one stands still
	mostWaited  = 16  // limits of time that an image may wait for memory, which do not count
)

// Check reads every sample whole and decodes it. A bad one is counted and named, and
// does not end the check; the error is the context's, with the census so far, or why
// it could not be done at all. good are the samples that can be used, damaged ones too,
// in their order.
func (s *Set) Check(ctx context.Context, o CheckOptions) (census *Census, good []int32, err error) {
	o.Decoder = cmp.Or(o.Decoder, decode.Auto)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	o.TimeLimit = cmp.Or(o.TimeLimit, DefaultTimeLimit)
	if o.Samples == nil {
		o.Samples = s.Plan(Order{}, 1).order
	}
	c := &Census{Store: s.Store, Bad: []Fault{}, Formats: map[string]int{}, Spaces: map[string]int{},
		Subsampling: map[string]int{}, Converted: map[string]int{},
		Stops: Stops{set: s}, set: s, labels: map[int32]int{}, sizes: map[[2]int]int{}}
	if s.Store == Tar {
		c.Shards = len(s.Files)
	}
	start := time.Now()
	if len(o.Samples) > 0 {
		if good, err = c.run(ctx, o); err != nil && ctx.Err() == nil {
			return nil, nil, err
		}
	}
	c.finish()
	c.Seconds = time.Since(start).Seconds()
	if s.Record == nil {
		c.Decoder = DecoderName(o.Decoder)
	}
	c.Interrupted = err != nil
	return c, good, err
}

// run inspects the samples of o.
func (c *Census) run(ctx context.Context, o CheckOptions) (good []int32, err error) {
	o.Threads = max(1, min(o.Threads, len(o.Samples), o.buffers(c.set)))
	inspectors := make([]*inspector, o.Threads)
	slots := make([]inspected, checkAhead+len(inspectors))
	inner, cancel := context.WithCancel(ctx)
	f, err := Generate(inner, FeedOptions{Batches: len(o.Samples), Readers: len(inspectors), Depth: len(slots),
		Thread: func(thread int) func() {
			inspectors[thread] = &inspector{set: c.set, o: o}
			return func() { inspectors[thread].close() }
		},
		Work: func(thread int, at Place, _ []byte) error {
			found := inspectors[thread].limited(inner, o.Samples[at.Batch])
			if found.stuck { // another takes its place
				inspectors[thread] = &inspector{set: c.set, o: o}
			}
			slots[at.Batch%len(slots)] = found
			return nil
		}})
	if err != nil {
		cancel()
		return nil, err
	}
	defer f.Close()
	defer cancel() // before it: what is still inspected is of no use
	stuck := 0
	for n, sample := range o.Samples {
		if _, err := f.Next(); err != nil {
			return good, err
		}
		found := slots[n%len(slots)]
		f.Release()
		if found.failed != nil {
			return good, found.failed
		}
		c.checked = o.Samples[:n+1]
		c.add(sample, found)
		if found.err == nil {
			good = append(good, sample)
		}
		if found.stuck {
			stuck++
		}
		if stuck == mostStuck {
			return good, fmt.Errorf("%d images are not read and decoded after %v: gave up", stuck, o.TimeLimit)
		}
		if o.Progress != nil {
			o.Progress(n+1, len(o.Samples))
		}
	}
	return good, nil
}

// add takes in what was found of a sample.
func (c *Census) add(sample int32, f inspected) {
	x, images, at := c.set.Samples[sample], c.set.images(), c.set.Fault(sample, "")
	c.Images += images
	c.Bytes += x.Len
	if c.set.Store != Tensor {
		c.labels[x.Label]++
	} else if len(c.set.Labels) > 0 {
		for _, label := range c.set.Labels[int(sample)*images:][:images] {
			c.labels[label]++
		}
	}
	c.slow(at, f.took.Seconds())
	c.Stops.add(sample, f.rule)
	switch {
	case f.err != nil:
		at.Reason = once(strings.ReplaceAll(f.err.Error(), "\n", "; "))
		if _, ok := errors.AsType[*decode.Unsupported](f.err); ok {
			c.Unsupported = append(c.Unsupported, at)
		} else {
			c.Bad = append(c.Bad, at)
		}
	case f.damage != "":
		c.Damaged += images
		c.Damage = append(c.Damage, c.set.Fault(sample, once(f.damage)))
	default:
		c.Good += images
	}
	if f.info.Format != "" {
		c.describe(sample, f)
	}
}

// once is a text of which millions of files share a copy.
func once(text string) string { return unique.Make(text).Value() }

// slow takes in how long a sample took.
func (c *Census) slow(at Fault, seconds float64) {
	if n := len(c.Slowest); seconds <= 0 || n == mostSlowest && seconds <= c.Slowest[n-1].Seconds {
		return
	}
	c.Slowest = append(c.Slowest, Slow{at.Path, at.Offset, seconds})
	slices.SortStableFunc(c.Slowest, func(a, b Slow) int { return cmp.Compare(b.Seconds, a.Seconds) })
	c.Slowest = c.Slowest[:min(len(c.Slowest), mostSlowest)]
}

// describe counts what the header says.
func (c *Census) describe(sample int32, f inspected) {
	info := &f.info
	c.Formats[info.Format]++
	if info.Width > 0 && f.err == nil {
		c.Pixels += info.Pixels()
		c.Largest = max(c.Largest, info.Pixels())
		c.sizes[[2]int{info.Width, info.Height}]++
	}
	if c.set.Store == Files && formatOf(c.set.Name(int(sample))) != info.Format {
		c.Misnamed = append(c.Misnamed, c.set.Fault(sample, "holds "+info.Format))
	}
	count := func(m map[string]int, key string) {
		if key != "" {
			m[key]++
		}
	}
	count(c.Spaces, info.Space)
	count(c.Subsampling, info.Subsampling)
	count(c.Converted, f.converted)
	if info.Progressive {
		c.Progressive++
	}
	if info.Orientation > 1 {
		c.Oriented++
	}
}

// finish sums up. What was lost when the set was opened is bad, too.
func (c *Census) finish() {
	for i, f := range c.set.Skipped {
		c.Stops.add(int32(-1-i), c.set.stopOf(f))
		if f.Lost {
			c.Bad = append(c.Bad, f)
			c.Images++
		} else {
			c.Passed = append(c.Passed, f)
		}
	}
	c.measure()
	for _, label := range slices.Sorted(maps.Keys(c.labels)) {
		name := fmt.Sprint(label)
		if label < 0 {
			name = "no label"
		} else if c.set.Classes != nil {
			name = Escape(c.set.Classes[label])
		}
		c.Labels = append(c.Labels, Count{name, c.labels[label]})
	}
}

// measure sums up sizes. It keeps what it needs for that no longer than it does.
func (c *Census) measure() {
	sizes := map[string]int{}
	widths, heights, lengths := map[int64]int{}, map[int64]int{}, map[int64]int{}
	for size, images := range c.sizes {
		sizes[fmt.Sprintf("%dx%d", size[0], size[1])] = images
		widths[int64(size[0])] += images
		heights[int64(size[1])] += images
	}
	for _, sample := range c.checked {
		lengths[c.set.Samples[sample].Len]++
	}
	c.Widths, c.Heights, c.FileBytes = spread(widths), spread(heights), spread(lengths)
	c.Sizes = Counts(sizes)
	c.Sizes = c.Sizes[:min(len(c.Sizes), mostSizes)]
}

// spread is of values that are there so many times.
func spread(counts map[int64]int) Range {
	values, left := slices.Sorted(maps.Keys(counts)), 0
	for _, n := range counts {
		left += n
	}
	left /= 2 // up to the median
	for _, v := range values {
		if left -= counts[v]; left < 0 {
			return Range{values[0], v, values[len(values)-1]}
		}
	}
	return Range{}
}
