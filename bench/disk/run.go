package disk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"dlbench/bench"
	"dlbench/bench/pace"
	"dlbench/bench/pagecache"
	"dlbench/loader"
	"dlbench/results"
)

// diskRunner reads batches of one store, with the page cache in one state.
type diskRunner struct {
	params
	env   bench.Env
	set   *loader.Set
	plan  *loader.Plan
	paced *pace.Disk // the clock of a simulated disk; nil for none

	feed     *loader.Feed // its readers' buffers and open files last from sample to sample
	cancel   context.CancelCauseFunc
	pages    string         // of the readers' buffers
	batches  []loader.Stats // of a sample; as many as find room
	at       int            // batch of the plan that the next sample begins with
	reads    times          // of a sample
	proofs   []pagecache.Proof
	stats    loader.Stats       // of samples
	rates    []float64          // B/s, of each sample
	first    []float64          // B/s, of samples of what was never read before in this run
	later    []float64          // B/s, of those of what was
	behind   []float64          // by how much samples took longer than the simulated disk, as shares
	firsts   times              // to the first byte of the requests of a sample
	before   loader.RemoteStats // when the case was opened
	warnings []string

	passed []loader.Metadata // over the files
	looked int               // samples that recorded some of these

	mutex sync.Mutex // readers note at once what they cannot read
	gone  int        // samples of the present sample that were left out
	bad   map[int32]loader.Fault
	why   error // the last one's
}

// leastBatches is how many batches a sample reads at least, for each reader, so that
// the first and the last, which overlap less, weigh little.
const leastBatches = 2

// mostAllocations bounds the files of a case whose allocation is looked up.
const mostAllocations = 500

// Open chooses the batches to read, and reads them into the page cache where they should
// be there.
func (d *diskRunner) Open(ctx context.Context) error {
	d.plan = d.plan.Part(0, min(d.plan.Len(), d.mostBatches()))
	files := bench.CacheFiles(d.set, d.plan)
	d.warnings = append(d.env.Data.Warnings(), pagecache.Sparse(ctx, files[:min(len(files), mostAllocations)])...)
	if d.Cache == results.ColdAll {
		if err := pagecache.EvictAll(); err != nil {
			return &bench.SkipError{Reason: err.Error()}
		}
	}
	if d.Cache == results.Warm {
		if _, err := pagecache.Load(ctx, files); err != nil && !errors.Is(err, pagecache.ErrNotSupported) {
			return err
		}
		d.touch(d.plan)
	}
	if looksAtFiles(d.env, d.params) {
		var err error
		if d.passed, err = d.set.MeasureMetadata(d.plan, 1+laterPasses); err != nil {
			return err
		}
	}
	d.before = d.asked()
	d.paced = bench.DiskClock(d.env.Disk)
	return d.makeRoom(d.Size(1))
}

// makeRoom starts readers anew, at the beginning of the plan, where those there are have no
// room for samples of n batches.
//
// From loader.Feed a batch takes as long as from threads of the suite's own: theirs over
// this, 1, 4, 16, 64 readers, cached files, time 0.99, 1.01, 1.06, 1.01, CPU 1.00, 1.00, 0.99, 1.00.
func (d *diskRunner) makeRoom(n int) error {
	if n <= len(d.batches) {
		return nil
	}
	d.Close()
	o := loader.FeedOptions{Readers: d.Readers, Depth: n, Missing: d.missing}
	o.Read = loader.ReadOptions{Direct: d.Cache == results.Direct, Disk: d.paced,
		Observe: d.reads.add, First: d.firsts.add,
		Stream: d.Order == results.Sequential && d.Readers == 1}
	if d.paced != nil {
		o.Thread = func(int) func() { return pace.Sharpen() }
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	feed, err := loader.NewFeed(ctx, d.set, d.plan, o)
	if err != nil {
		cancel(err)
		return err
	}
	d.feed, d.cancel, d.pages = feed, cancel, feed.Pages()
	d.batches, d.at = make([]loader.Stats, n), 0
	return nil
}

// missing notes a file that vanished or cannot be read any more, and goes on without it. Records
// are not left out: a batch without one is another batch.
func (d *diskRunner) missing(_ int, at loader.Place, err error) bool {
	if d.set.Record != nil || errors.Is(err, loader.ErrNoDirect) {
		return false
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.bad == nil {
		d.bad = map[int32]loader.Fault{}
	}
	d.gone++
	d.why = err
	d.bad[at.Sample] = d.set.Fault(at.Sample, results.OneLine(err))
	return true
}

func (d *diskRunner) read(ctx context.Context, n int) ([]loader.Stats, error) {
	defer context.AfterFunc(ctx, func() { d.cancel(context.Cause(ctx)) })()
	batches := d.batches[:n]
	d.feed.Grant(n)
	if err := d.feed.NextAll(batches); err != nil {
		return nil, err
	}
	for range n {
		d.feed.Release()
	}
	return batches, nil
}

// mostBatches is how many batches of the set a case visits: those that are warm must
// fit into memory.
func (d *diskRunner) mostBatches() int {
	if d.Cache != results.Warm {
		return bench.MostVisited
	}
	return d.env.WarmBatches(d.set.Bytes / int64(len(d.set.Samples)) * int64(len(d.plan.Batch(0))))
}

func (d *diskRunner) Size(n int) int {
	least := leastBatches * d.Readers
	if d.env.Disk.Emulated() {
		least = 1
	}
	if cold(d.params) { // a second time it would not be cold
		return min(max(n, least), d.plan.Len())
	}
	return max(n, least)
}

func (d *diskRunner) Close() error {
	if d.feed != nil {
		d.feed.Close()
	}
	return nil
}

func (d *diskRunner) Sample(ctx context.Context, n int, r *bench.Recorder) error {
	if err := d.makeRoom(n); err != nil {
		return err
	}
	part := d.plan.Part(d.at, n)
	d.at = (d.at + n) % d.plan.Len()
	files := bench.CacheFiles(d.set, part)
	proof, err := d.prepare(ctx, files)
	if err != nil {
		return err
	}
	d.gone = 0
	d.firsts.all, d.reads.all = d.firsts.all[:0], d.reads.all[:0]
	defer bench.WithProcessors(d.Readers + 2)()
	watch := pagecache.WatchReads(d.env.Root, d.env.Data.Disk.Devices)
	alone := d.alone()
	asked := d.asked()
	cpu := bench.ProcessCPU()
	start := time.Now()
	batches, err := d.read(ctx, n)
	elapsed := time.Since(start)
	cpu = bench.ProcessCPU() - cpu
	watch.Fill(&proof)
	if err != nil {
		return err
	}
	fresh := d.touch(part)
	var stats loader.Stats
	for _, b := range batches {
		stats.Add(b)
		if b.Samples > 0 {
			r.Observe("batch_latency", time.Duration(b.Nanos))
		}
	}
	if stats.Samples == 0 && d.why != nil {
		return fmt.Errorf("no file could be read: %w", d.why)
	}
	r.Add(elapsed, int64(n*d.env.Batch.Images-d.gone), stats.Bytes)
	if r.Warmup {
		return nil
	}
	proof.Asked = stats.Bytes
	d.prove(ctx, proof, files)
	d.stats.Add(stats)
	rate := float64(stats.Bytes) / elapsed.Seconds()
	d.rates = append(d.rates, rate)
	switch fresh {
	case 1:
		d.first = append(d.first, rate)
	case 0:
		d.later = append(d.later, rate)
	}
	d.observeMetadata(r)
	if d.Cache == results.Remote {
		d.observeRemote(r, asked)
	}
	for _, t := range d.reads.all {
		r.Observe("read_latency", t)
	}
	if nominal := d.alone() - alone; nominal > 0 && d.serial() {
		d.behind = append(d.behind, float64(elapsed-nominal)/float64(nominal))
		r.Set("lateness", (elapsed-nominal).Seconds()/float64(n))
	}
	device := d.Cache != results.Remote && d.Cache != results.Warm // is read
	if device && proof.FromDevice >= 0 {
		r.Set("amplification", float64(proof.FromDevice)/float64(stats.Bytes))
	}
	if device && proof.Depth > 0 {
		r.Set("queue_depth", proof.Depth)
	}
	r.SetKnown("cpu_per_gb", cpu.Seconds()/float64(stats.Bytes)*1e9)
	return nil
}

// touch notes that the samples of a part of the plan are read, and returns the share of them
// that was not before.
func (d *diskRunner) touch(part *loader.Plan) float64 {
	all, fresh := 0, 0
	for i := range part.Len() {
		batch := part.Batch(i)
		all += len(batch)
		fresh += d.env.Data.Touch(d.set, batch)
	}
	return float64(fresh) / float64(max(1, all))
}

// serial says whether a simulated disk serves the reads one after the other, as it does
// those of several readers but for latencies that a solid-state disk overlaps.
func (d *diskRunner) serial() bool {
	return d.Readers == 1 || d.env.Disk.Seek || d.env.Disk.Latency == 0
}

// alone is how long the simulated disk's reads take so far, one after the other.
func (d *diskRunner) alone() time.Duration {
	if d.paced == nil {
		return 0
	}
	return d.paced.Alone()
}

// times collects times that several readers add at once.
type times struct {
	mutex sync.Mutex
	all   []time.Duration
}

func (x *times) add(t time.Duration) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.all = append(x.all, t)
}

// prepare brings the page cache into the case's state and measures it, untimed. Read-ahead
// that the last sample started may still be under way, and its pages cannot be evicted.
func (d *diskRunner) prepare(ctx context.Context, files []pagecache.File) (p pagecache.Proof, err error) {
	if d.Cache == results.Remote {
		return p, nil
	}
	var looked error
	first := true
	done := func() (bool, error) {
		if !first || d.Cache != results.Warm { // what must be warm is so most times
			if err := d.arrange(ctx, files); err != nil && !errors.Is(err, pagecache.ErrNotSupported) {
				return false, err
			}
		}
		first = false
		p.Before, looked = pagecache.Residency(ctx, files)
		return errors.Is(looked, pagecache.ErrNotSupported) || looked == nil && d.settled(p.Before), nil
	}
	err = pagecache.Settle(ctx, pagecache.InFlight(d.env.Root, d.env.Data.Disk.Devices), done)
	if err == nil && looked != nil {
		p.Unverified = looked.Error()
	}
	return p, cmp.Or(err, ctx.Err())
}

// settled says whether the case may begin with such a share of its data in the page cache.
func (d *diskRunner) settled(resident float64) bool {
	switch d.Cache {
	case results.Direct:
		return true
	case results.Warm:
		return resident > pagecache.WarmResident
	}
	return resident < pagecache.ColdResident
}

// arrange evicts what must be cold, and reads what must be warm.
func (d *diskRunner) arrange(ctx context.Context, files []pagecache.File) error {
	switch d.Cache {
	case results.Warm:
		_, err := pagecache.Load(ctx, files)
		return err
	case results.ColdAll:
		if err := pagecache.EvictAll(); err != nil {
			return err
		}
	}
	return pagecache.Evict(ctx, files)
}

// prove measures the page cache after direct reads, and judges.
func (d *diskRunner) prove(ctx context.Context, p pagecache.Proof, files []pagecache.File) {
	if d.Cache == results.Direct {
		var err error
		if p.After, err = pagecache.Residency(ctx, files); err != nil {
			p.Unverified = err.Error()
		}
	}
	disk := d.env.Data.Disk
	p.Network = len(disk.Devices) == 0 && (disk.Kind == results.DiskNetwork || disk.Kind == results.DiskFUSE)
	p.Verdict = pagecache.Judge(d.Cache, p)
	d.proofs = append(d.proofs, p)
}
