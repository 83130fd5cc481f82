package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"dlbench/bench/host"
	"dlbench/bench/pagecache"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/loader/s3"
	"dlbench/loader/synth"
	"dlbench/results"
)

// Data is the data sets of a run.
type Data struct {
	Sets map[string]*loader.Set // by store
	Disk results.Disk           // that holds them
	Path string                 // what the user gave, or where the sets were made
	Made bool                   // by us, of synthetic images

	Remote loader.Remote // the object store that has the sets; nil for a file system

	Memory  *decode.Memory // that pictures may take over all threads; nil where it is not known
	Images  *loader.Set    // files or shards whose samples can be decoded; nil without any
	Checked *loader.Census // of those; nil where they are ours
	chosen  int            // samples that were checked

	mutex   sync.Mutex
	touched map[touched]bool // in this run
}

// touched is a sample that was read.
type touched struct {
	set    *loader.Set
	sample int32
}

// Touch notes that samples of one of the sets are read and returns how many of them were
// not before, in this run: some volumes are slow the first time.
func (d *Data) Touch(set *loader.Set, samples []int32) (fresh int) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.touched == nil {
		d.touched = map[touched]bool{}
	}
	before := len(d.touched)
	for _, i := range samples {
		d.touched[touched{set, i}] = true
	}
	return len(d.touched) - before
}

// Sizes of the data sets that a run makes for itself: at most so many images, bytes,
// and share of what is free.
const (
	defaultImages = 640
	quickImages   = 160
	defaultBytes  = 1500e6
	quickBytes    = 300e6
	freeShare     = 0.1
	ImageBytes    = 112e3 // of a synthetic JPEG, about
)

// OpenData opens what the user named, or makes a small set of every store, once, in
// the user's cache directory.
func OpenData(ctx context.Context, o Options) (*Data, error) {
	if o.Data != "" {
		return openGiven(ctx, o)
	}
	dir, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("no cache directory for synthetic images (%w): name a folder of images with --data", err)
	}
	d := &Data{Disk: host.DiskOf(o.Root, dir), Path: filepath.Join(dir, "dlbench"), Made: true,
		Sets: map[string]*loader.Set{}}
	images, err := imagesFor(o.Batch, o.Quick, d.Disk.Free)
	if err != nil {
		return nil, err
	}
	spec := synth.Spec{Form: synth.Form{Batch: o.Batch}, Images: images, Seed: 1}
	for again := false; ; again = true {
		dirs, made, err := synth.EnsureDefault(ctx, dir, spec, loader.Stores,
			o.dataProgress("making a data set in "+d.Path))
		if err != nil {
			return nil, fmt.Errorf("make a data set in %s: %w", d.Path, err)
		}
		if made && o.Notice != nil {
			o.Notice(fmt.Sprintf("made a data set of %d synthetic images in %s, for this run and later ones",
				images, d.Path))
		}
		if err := d.openMade(dirs); err == nil || again {
			return d, err
		}
		for _, path := range dirs { // damaged in a way that sizes do not show: ours, so made anew
			if err := os.RemoveAll(path); err != nil {
				return nil, err
			}
		}
	}
}

// openMade opens sets that we made, which are whole.
func (d *Data) openMade(dirs map[string]string) (err error) {
	for store, path := range dirs {
		if d.Sets[store], err = loader.Open(path, store); err != nil {
			return err
		}
		if skipped := d.Sets[store].Skipped; len(skipped) > 0 {
			return fmt.Errorf("%s is damaged: %s", path, skipped[0].Reason)
		}
	}
	return nil
}

// FreeSpace is how many bytes the file system has on which a folder is or would be; 0 if that is not known.
func FreeSpace(dir string) int64 { return host.DiskOf("/", dir).Free }

// imagesFor is how many images of a batch's kind to make where so many bytes are
// free (0: unknown): whole batches.
func imagesFor(b theory.Batch, quick bool, free int64) (int, error) {
	images, most := defaultImages, float64(defaultBytes)
	if quick {
		images, most = quickImages, quickBytes
	}
	if free > 0 {
		most = min(most, freeShare*float64(free))
	}
	one := float64(b.Bytes()) / float64(b.Images)
	fit := int(most / (2*ImageBytes + 2*(one+loader.BlockSize))) // files and shards; records and batches
	n := max(images, 4*b.Images)
	for n > fit { // by halves, so that a disk that fills up does not ask for another set each time
		n /= 2
	}
	if n = n / b.Images * b.Images; n < b.Images {
		return 0, fmt.Errorf("a data set of one batch does not fit into %s (at most a tenth of what is free is used): "+
			"name one with --data", results.FormatBytes(int64(most)))
	}
	return n, nil
}

// RemoteOptions says how a data set in an object store is read.
type RemoteOptions struct {
	MaxBytes int64        // that are read in all; 0: any number
	Part     bool         // of many shards the first will do
	Announce func(string) // called before objects are read, with how many there are; may be nil
}

// OpenSet opens the data set at path, a place of a file system or s3://BUCKET/PREFIX.
func OpenSet(ctx context.Context, path string, o RemoteOptions) (*loader.Set, error) {
	if !strings.HasPrefix(path, s3.Prefix) {
		return loader.Open(path, "")
	}
	bucket, err := s3.Open(path, o.MaxBytes)
	if err != nil {
		return nil, err
	}
	objects, err := bucket.List(ctx)
	if err != nil {
		return nil, err
	}
	if o.Announce != nil {
		text := fmt.Sprintf("reads from %s over the network: %s, %s", path, results.Plural(len(objects), "object"),
			results.FormatBytes(loader.TotalSize(objects)))
		if o.MaxBytes > 0 {
			text += fmt.Sprintf("; at most %s in all (--max-bytes)", results.FormatBytes(o.MaxBytes))
		}
		o.Announce(text)
	}
	return loader.OpenRemote(ctx, bucket, objects, o.Part)
}

// objectStore stands for the disk of data in an object store.
var objectStore = results.Disk{Name: "object store", Kind: results.DiskNetwork, FileSystem: results.FromS3,
	Cache: results.CacheNotControllable, CacheReason: "an object store"}

func openGiven(ctx context.Context, o Options) (*Data, error) {
	refuse := func(format string, args ...any) error {
		return &UsageError{"--data", o.Data, fmt.Sprintf(format, args...)}
	}
	set, err := OpenSet(ctx, o.Data, RemoteOptions{o.MaxBytes, true, o.Notice})
	if errors.Is(err, loader.ErrContainer) {
		return nil, err
	}
	if errors.Is(err, loader.ErrMostBytes) {
		return nil, o.tooFew("to list the samples of the shards")
	}
	if wrong, ok := errors.AsType[*loader.PathError](err); ok {
		return nil, refuse("%s", wrong.Help)
	}
	if err != nil {
		return nil, refuse("%v", err)
	}
	d := &Data{Sets: map[string]*loader.Set{set.Store: set}, Path: o.Data, Remote: set.Remote, Disk: objectStore}
	if set.Remote == nil {
		d.Disk = host.DiskOf(o.Root, o.Data)
	}
	if set.Plan(loader.Order{}, o.Batch.Images).Len() < 1 {
		few := refuse("%d samples are less than one batch of %d: use a smaller --batch", len(set.Samples), o.Batch.Images)
		o.Batch.Images = 1
		return nil, cmp.Or(d.Check(ctx, o), few) // or none of them can be used
	}
	return d, nil
}

// tooFew refuses --max-bytes for which not even what comes before measuring can be done.
func (o Options) tooFew(what string) error {
	return &UsageError{"--max-bytes", results.FormatBytes(o.MaxBytes), "want more, " + what}
}

// WhyNotRemote says why data is not read as a case has it, from an object store or not, or what no
// simulated disk can read; "" where it is.
func (d *Data) WhyNotRemote(asked, simulated bool) string {
	switch {
	case asked && d.Remote == nil:
		return "the data is in a file system: cache=" + results.Remote + " is for s3://"
	case d.Remote != nil && simulated:
		return "a simulated disk reads from the page cache, not from an object store"
	case d.Remote != nil && !asked:
		return "an object store has no page cache here: cache=" + results.Remote
	}
	return ""
}

// NetworkOf is what was asked of an object store so far; nil for none.
func NetworkOf(r loader.Remote, most int64) *results.Network {
	if r == nil {
		return nil
	}
	s := r.Stats()
	return &results.Network{Bytes: s.Bytes, MaxBytes: most, Requests: s.Requests, Retries: s.Retries,
		Throttled: s.Throttled}
}

// Describe is what the report says of the data: what was read, and what was left out or
// found by its check, named relative to the data root.
func (d *Data) Describe() (ds *results.Dataset, warnings []string) {
	store := loader.Stores[slices.IndexFunc(loader.Stores, func(s string) bool { return d.Sets[s] != nil })]
	set := d.Sets[store]
	info, _ := synth.ReadInfo(set.Root) // of a set that we made
	ds = &results.Dataset{Store: store, Images: int64(len(set.Samples)), Bytes: set.Bytes, Fingerprint: info.Fingerprint}
	if kind := d.Disk.Kind; (kind == results.DiskNetwork || kind == results.DiskFUSE) && len(d.Disk.Devices) == 0 {
		ds.From = d.Disk.FileSystem
	}
	if d.Made { // nothing in it but what we put there
		ds.Seed = 1
		return ds, nil
	}
	skipped := slices.DeleteFunc(slices.Clone(set.Skipped), func(f loader.Fault) bool {
		return f.Lost && d.Checked != nil // among what is bad
	})
	warnings = loader.ListFaults(skipped, mostSkipped, "skipped %s: %s", "%d more files or places were skipped")
	if c := d.Checked; c != nil {
		ds.LeftOut = int64(len(c.Bad) + len(c.Unsupported))
	}
	return ds, append(warnings, d.found()...)
}

// Warnings say what is doubtful in whatever is read from the disk that holds d.
func (d *Data) Warnings() (w []string) {
	if d.Disk.Kind == results.DiskMemory {
		w = append(w, "the data lies in memory ("+d.Disk.FileSystem+"): this is no disk's speed")
	}
	if d.Disk.Compressed {
		w = append(w, "the file system "+d.Disk.FileSystem+
			" compresses, or may: fewer bytes may come from the disk than are read")
	}
	if d.Disk.Cache == results.CacheNotControllable && d.Disk.Kind != results.DiskMemory && d.Remote == nil {
		w = append(w, "the cache cannot be controlled as a whole ("+d.Disk.CacheReason+"): cold may be warm somewhere")
	}
	return w
}

// mostSkipped is how many skipped samples a report names.
const mostSkipped = 20

// Bounds of what a case touches of a data set: batches that are visited, and bytes of
// them, as a share of the memory that is available and at most.
const (
	MostVisited = 512
	warmShare   = 4
	mostWarm    = 4 << 30
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

// Check reads and decodes the images of d, or of many a random choice, and leaves out
// the bad ones.
func (d *Data) Check(ctx context.Context, o Options) error {
	if d.Images = cmp.Or(d.Sets[loader.Files], d.Sets[loader.Tar]); d.Images == nil {
		return nil
	}
	samples := choose(d.Images, o.Batch.Images, o.Seed)
	if d.Made {
		d.Images = d.Images.Only(samples)
		return nil
	}
	d.chosen = len(samples)
	d.Touch(d.Images, samples)
	census, good, err := d.Images.Check(ctx,
		loader.CheckOptions{Samples: samples, Memory: d.Memory.Another(), Progress: o.dataProgress("checking " + d.Path)})
	if errors.Is(err, loader.ErrMostBytes) {
		return o.tooFew("to check the images")
	}
	if err != nil {
		return err
	}
	d.Checked = census
	if flawed := slices.Concat(census.Bad, census.Unsupported, census.Damage); len(flawed) > 0 {
		first := fmt.Sprintf("%s; the first %s: %s (dlbench dataset check %s names all", census.Flawed(),
			flawed[0].At(), flawed[0].Reason, d.Path)
		if census.Usable() == 0 {
			return fmt.Errorf("none of %d images can be used: %s)", census.Images, first)
		}
		if o.Strict {
			return fmt.Errorf("%d of %d images are not good: %s; without --strict bad ones are left out)",
				len(flawed), census.Images, first)
		}
	}
	d.Images = d.Images.Only(good)
	return nil
}

// LargestImage is the most pixels that an image of d has.
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
	least := leastChecked * batch
	for n < min(len(order), max(mostChecked, least)) && (bytes < mostCheckedBytes || n < least) {
		bytes += s.Samples[order[n]].Len
		n++
	}
	order = order[:n]
	slices.Sort(order)
	return order
}

// found says what the check of d found, in lines for the report.
func (d *Data) found() (lines []string) {
	c := d.Checked
	if c == nil {
		return nil
	}
	if set := d.Sets[c.Store]; d.chosen < len(set.Samples) {
		lines = append(lines, fmt.Sprintf("of %d images %d were chosen, checked and used; "+
			"dlbench dataset check reads all", len(set.Samples), d.chosen))
	}
	lines = append(lines, loader.ListFaults(c.Bad, mostBad, "bad, left out: %s: %s", "bad, left out: %d more")...)
	lines = append(lines, loader.ListFaults(c.Unsupported, mostBad, "left out: %s: %s", "left out: %d more")...)
	lines = append(lines, loader.ListFaults(c.Damage, mostBad, "damaged, used: %s: %s", "damaged, used: %d more")...)
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

// storeOf is where a strategy finds what it loads; images otherwise.
var storeOf = map[string]string{results.Offline: loader.Raw, results.StrategyTensor: loader.Tensor}

// Source is the set that a strategy reads, nil where the data has none.
func (d *Data) Source(strategy string) *loader.Set {
	if store, ok := storeOf[strategy]; ok {
		return d.Sets[store]
	}
	return d.Images
}

// UsualStrategy is how the data is loaded unless the user says otherwise.
func (d *Data) UsualStrategy() string {
	for _, s := range []string{results.Online, results.Offline, results.StrategyTensor} {
		if d.Source(s) != nil {
			return s
		}
	}
	return results.Online
}

// Unable says why a strategy cannot make batches b of samples as p has them, "" if it can.
func (d *Data) Unable(strategy string, b theory.Batch, p loader.PreprocessOptions) string {
	set := d.Source(strategy)
	switch {
	case set == nil && strategy == results.Online:
		return "the data given holds no image files to decode"
	case set == nil:
		return "the data given has no " + storeOf[strategy] + " store: dlbench dataset pack makes one of images"
	case set.Plan(loader.Order{}, b.Images).Len() < 1:
		return fmt.Sprintf("%d good samples are less than one batch of %d", len(set.Samples), b.Images)
	case strategy == results.StrategyTensor:
		if rec := set.Record; rec.Bytes() != b.Bytes() || rec.Images != b.Images {
			return fmt.Sprintf("the store holds batches of %d, %d bytes each, not %s", rec.Images, rec.Bytes(), b)
		}
		return ""
	case b.Channels != 3:
		return fmt.Sprintf("images have 3 channels, not %d", b.Channels)
	case strategy == results.Offline:
		return loader.CanPrepare(set.Record, p.Sample)
	case p.Decoder == decode.Turbo:
		if _, err := decode.Library(); err != nil {
			return err.Error()
		}
	}
	return ""
}

// LoadSamples reads the samples of a part of a plan over a set into memory, by their numbers:
// nil where a batch could not be read, and err says why the last one could not.
func LoadSamples(ctx context.Context, set *loader.Set, part *loader.Plan) (data [][]byte, err error) {
	reader, err := loader.NewReader(set, loader.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	data = make([][]byte, len(set.Samples))
	for i := range part.Len() {
		_, failed := reader.Read(part.Batch(i), func(sample int32, b []byte) error {
			data[sample] = append([]byte(nil), b...)
			return ctx.Err()
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		err = cmp.Or(failed, err)
	}
	return data, err
}

// CacheFiles are the ranges of files that a part of a plan over set reads, but for files that
// are gone; none of a remote store.
func CacheFiles(set *loader.Set, part *loader.Plan) []pagecache.File {
	if set.Remote != nil {
		return nil
	}
	var samples []loader.Sample
	for i := range part.Len() {
		for _, k := range part.Batch(i) {
			samples = append(samples, set.Samples[k])
		}
	}
	var files []pagecache.File
	for _, same := range results.Grouped(samples, func(s loader.Sample) int32 { return s.File }) {
		f := pagecache.File{Path: filepath.Join(set.Root, filepath.FromSlash(set.Files[same[0].File].Path))}
		for _, s := range same {
			f.Spans = append(f.Spans, pagecache.Span{Off: s.Off, Len: s.Len})
		}
		if _, err := os.Stat(f.Path); err == nil {
			files = append(files, f)
		}
	}
	return files
}
