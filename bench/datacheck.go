package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"dlbench/bench/pagecache"
	"dlbench/loader"
	"dlbench/loader/synth"
)

// Bounds of the images that are checked and then used: they are decoded again and
// again, from the page cache.
const (
	mostChecked      = 2048
	mostCheckedBytes = 256e6
	leastChecked     = 4 // batches, whatever they take
)

// mostBad is how many bad files, and how many damaged ones, a report names.
const mostBad = 200

// ErrBadData says that data has bad files, in a strict run.
var ErrBadData = errors.New("bad files")

// check reads and decodes the images of d, or of many a random choice, and leaves out
// the bad ones.
func (d *Data) Check(ctx context.Context, o Options) error {
	for _, store := range []string{loader.Files, loader.Tar} {
		if d.Images == nil {
			d.Images = d.Sets[store]
		}
	}
	if d.Images == nil {
		return nil
	}
	samples := choose(d.Images, o.Batch.Images, o.Seed)
	if d.Made {
		d.Images = d.Images.Only(samples)
		return nil
	}
	d.chosen = len(samples)
	options := loader.CheckOptions{Samples: samples}
	if o.Progress != nil {
		options.Progress = func(done, total int) {
			o.Progress(Progress{Suite: "data set", Case: "checking " + d.Path, Share: float64(done) / float64(max(1, total))})
		}
	}
	census, good, err := d.Images.Check(ctx, options)
	if err != nil {
		return err
	}
	d.Checked = census
	if o.Strict && len(census.Bad) > 0 {
		return fmt.Errorf("%w: %d of %d, the first %s: %s (dlbench dataset check %s names all; without --strict they are left out)",
			ErrBadData, len(census.Bad), census.Images, census.Bad[0].Path, census.Bad[0].Reason, d.Path)
	}
	d.Images = d.Images.Only(good)
	return nil
}

// largestImage is the most pixels that an image of d has.
func (d *Data) LargestImage() int64 {
	if d.Checked != nil {
		return d.Checked.Largest
	}
	return synth.MostPixels
}

// choose returns the samples to use, in their order: all of a small set, a random
// choice of a large one, of shards a run from the first on.
func choose(s *loader.Set, batch int, seed uint64) []int32 {
	order := make([]int32, len(s.Samples))
	for i := range order {
		order[i] = int32(i)
	}
	if s.Store == loader.Files {
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	n, bytes := 0, int64(0)
	for n < len(order) && n < max(mostChecked, leastChecked*batch) && (bytes < mostCheckedBytes || n < leastChecked*batch) {
		bytes += s.Samples[order[n]].Len
		n++
	}
	order = order[:n]
	slices.Sort(order)
	return order
}

// found says what the check of d found, in lines for the report.
func (d *Data) Found() (lines []string) {
	c := d.Checked
	if c == nil {
		return nil
	}
	if set := d.Sets[c.Store]; d.chosen < len(set.Samples) {
		lines = append(lines, fmt.Sprintf("of %d images %d were chosen, checked and used; dlbench dataset check reads all", len(set.Samples), d.chosen))
	}
	name := func(kind string, faults []loader.Fault) {
		for i, f := range faults {
			if i == mostBad {
				lines = append(lines, fmt.Sprintf("%s %d more", kind, len(faults)-i))
				return
			}
			lines = append(lines, fmt.Sprintf("%s %s: %s", kind, f.At(), f.Reason))
		}
	}
	name("bad, left out:", c.Bad)
	name("damaged, used:", c.Damage)
	var converted []string
	for _, kind := range []string{"gray", "cmyk", "16-bit", "alpha", "palette"} {
		if n := c.Converted[kind]; n > 0 {
			converted = append(converted, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if len(converted) > 0 {
		lines = append(lines, "converted to RGB: "+strings.Join(converted, ", "))
	}
	return lines
}

// cacheFiles are the ranges of files that a part of a plan over set reads.
func CacheFiles(set *loader.Set, part *loader.Plan) []pagecache.File {
	at := map[int32]int{}
	var files []pagecache.File
	for i := range part.Len() {
		for _, k := range part.Batch(i) {
			s := set.Samples[k]
			j, ok := at[s.File]
			if !ok {
				j = len(files)
				at[s.File] = j
				files = append(files, pagecache.File{Path: filepath.Join(set.Root, filepath.FromSlash(set.Files[s.File].Path))})
			}
			files[j].Spans = append(files[j].Spans, pagecache.Span{Off: s.Off, Len: s.Len})
		}
	}
	return files
}
