package pcie

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// copyPair is where a copy goes and where it comes from.
type copyPair struct{ Dst, Src *cuda.Buffer }

// copier runs copies over a device.
type copier struct {
	point
	*queue  // with events of start and stop
	buffers *bufferPool
	link    liveLink
	pair    copyPair      // what is copied
	primer  copyPair      // a small copy between blocker and start event
	source  *cuda.Buffer  // staged: where the bytes are copied from
	block   time.Duration // of the blocker
	gaps    int           // groups that the blocker did not cover
	groups  int
	pinned  int // measurements of page-locking done
	normal  normaliser
	late    [][]time.Duration // of copies over a simulated link, by sample
	loaded  bench.LinkLoad
	proof   results.PCIeProof // as far as it is known once the case is open
}

// openCopier allocates what the case needs and checks that bytes arrive.
func openCopier(env bench.Env, b *bufferPool, p point) (*copier, error) {
	c := &copier{point: p, queue: &queue{device: b.device}, buffers: b, block: leastBlock}
	return c, c.bound(func() error {
		b.use()
		c.link.open(env.Root, p.info.PCI)
		c.queue.open(2)
		c.do(c.allocate)
		c.do(c.verify)
		c.do(func() (err error) {
			onHost := cmp.Or(c.source, c.pair.Src)
			if c.Dir == results.D2H {
				onHost = c.pair.Dst
			}
			addPages(&c.proof, onHost.Host, env.Host.CPU.NUMANodes)
			c.loaded, err = bench.NewLinkLoad(c.device, c.pair.Dst, c.pair.Src)
			return err
		})
		if c.err != nil {
			return errors.Join(c.err, c.close())
		}
		return nil
	})
}

func (c *copier) allocate() (err error) {
	if c.pair, err = c.buffers.pair(c.params); err != nil {
		if c.Mem == "registered" && errors.Is(err, cuda.NotSupported) { // the machine's nature
			return &bench.SkipError{Reason: "this driver registers no host memory: " + results.OneLine(err)}
		}
		return err
	}
	n := int(min(c.Bytes, primerBytes))
	c.primer = copyPair{Dst: c.pair.Dst.View(n), Src: c.pair.Src.View(n)}
	if err := c.link.allocate(c.buffers, c.Bytes); err != nil {
		return err
	}
	if c.Mem == results.Staged {
		c.source, err = c.buffers.get(bufferOf(c.params, cuda.Pageable), c.Bytes)
	}
	return err
}

// verify sends bytes as the case does and compares what arrives. What it needs besides is
// of the case's own kind of memory, so that it does not hang on another kind's copies.
func (c *copier) verify() error {
	pair, err := c.buffers.pair(c.params) // of its own, so that a simulated link's bytes are dropped with them
	if err != nil {
		return err
	}
	check, err := c.device.Alloc(kinds[c.Mem], int(c.Bytes))
	if err != nil {
		return err
	}
	defer check.Free()
	send := func(dst, src *cuda.Buffer) {
		c.copy(copyPair{Dst: dst, Src: src})
		c.sync()
		c.do(func() error { return c.device.Settle(dst) })
	}
	device, from, to := pair.Dst, pair.Src, check
	if c.Dir == results.D2H {
		device, from, to = pair.Src, check, pair.Dst
		bench.Randomize(from.Host, c.buffers.seed+2)
	} else if c.source != nil {
		copy(from.Host, c.source.Host)
	}
	for i := range to.Host {
		to.Host[i] = ^from.Host[i]
	}
	if c.Dir == results.H2D {
		send(device, to) // something else on the device first
	}
	send(device, from)
	send(to, device)
	if c.err == nil && !bytes.Equal(to.Host, from.Host) {
		return fmt.Errorf("%s %s: other bytes arrived than were sent", c.Dir, c.Mem)
	}
	return c.err
}

func (c *copier) Close() error { return c.bound(c.close) }

func (c *copier) close() error {
	return errors.Join(c.queue.close(), c.buffers.release())
}

func (c *copier) Sample(ctx context.Context, n int, r *bench.Recorder) error {
	return c.bound(func() error { return c.sample(ctx, n, r) })
}

func (c *copier) sample(ctx context.Context, n int, r *bench.Recorder) error {
	measure := c.timeByEvents
	if c.hostTimed() {
		measure = c.timeByHost
	}
	if !r.Warmup {
		c.late = append(c.late, nil)
	}
	err := measure(ctx, n, r)
	c.loaded.Harvest(!r.Warmup)
	if err != nil || r.Warmup {
		return err
	}
	c.link.observe(c.queue)
	for _, m := range c.metrics() {
		switch m.Name {
		case metricLatency.Name:
			c.measureLatency(r)
		case metricNormalised.Name:
			c.measureNormalised(n, r)
		case metricPin.Name:
			c.do(func() error { return c.measurePin(r) })
		}
	}
	return c.err
}

// Check fails when a simulated link missed its deadlines: p95 of the lateness
// above 1 % of the copy's time. Samples taken while the machine was busy stay in
// the result, but a case that is then measured on is judged by its last samples.
func (c *copier) Check() error {
	if c.loaded.Loader != nil {
		return c.loaded.Check()
	}
	last := slices.Concat(c.late[max(0, len(c.late)-bench.LateSamples):]...)
	if bench.TooLate(last, bench.LateShare*c.nominal()) > 0 {
		return errors.New("more than 5 % of the copies ended late, by more than 1 % of their time: " +
			"this machine is too busy to simulate a link")
	}
	return nil
}

// nominal is how long a copy takes over a simulated link, in s.
func (c *copier) nominal() float64 { return theory.Time(c.Bytes, c.info.Rates.Of(c.Mem)) }

// Report adds the link that the copies ran over, the references that follow from
// it, and what was odd.
func (c *copier) Report(r *results.Result) {
	p := c.proof
	p.BytesVerified, p.DeviceName, p.NormalisedImages = true, c.info.Name, c.normal.verified
	if c.normal.none != nil {
		r.Warnf("not normalised on the device: %s", results.OneLine(c.normal.none))
	}
	if c.Cold() {
		c.buffers.evictor.report(r, &p)
	}
	link := c.info.Link
	if c.info.AssumedLink() {
		p.LinkSource = c.info.Source
		if c.Mem == results.Staged {
			p.Parts = "the copy into the pinned buffer is measured, the copy over the link is simulated"
		}
	} else {
		link = c.link.report(r, &p)
	}
	if !c.info.Assumed {
		c.place.report(r, &p)
		c.reportMachine(r, &p)
	} else if c.Mem == "pageable" && results.MedianOf(r, "time") > (1+bench.LateShare)*c.nominal() {
		r.Warnf("this host copies slower than the simulated link: the time is the host's")
	}
	if p.LoadedLink = c.loaded.Report(r); c.loaded.Loader != nil && len(c.link.read) > 0 {
		p.LinkReal = linkText(c.link.read[len(c.link.read)-1])
	}
	if c.groups > 0 {
		p.Groups, p.GroupsWithGap = &c.groups, &c.gaps
	}
	if c.gaps*10 > c.groups {
		r.Warnf("%d of %d groups of copies were not queued in time behind their blocker: "+
			"host delays are in the times", c.gaps, c.groups)
	}
	if link.Lanes > 0 {
		p.Link = link.String()
		r.References = append(r.References, c.references(link)...)
		failAboveLine(r, link)
	}
	r.Proof = results.RecordOf(&p)
}

// reportMachine names a part of a GPU, which shares its link.
func (c *copier) reportMachine(r *results.Result, p *results.PCIeProof) {
	if _, slice, ok := strings.Cut(c.info.Name, " MIG "); ok {
		p.MIG = slice
		r.Warnf("a MIG instance (%s): it shares the GPU's link and copy engines with the other instances, "+
			"whose work is in these times", slice)
	}
}

// references of a copy over l.
func (c *copier) references(l theory.Link) (refs []results.Reference) {
	add := func(name, source string, lo, hi float64) {
		refs = append(refs, bench.RateReferences(name, source, float64(c.Bytes), lo, hi)...)
	}
	line := l.LineRate()
	add("line-rate", l.Title()+": GT/s x line coding x lanes / 8, before packet overhead", line, line)
	dir, small := theory.HostToDevice, theory.MinCompletion
	if c.Dir == results.D2H {
		dir, small = theory.DeviceToHost, theory.MinWrite
	}
	if lo, hi, ok := l.Band(dir); ok {
		add("protocol-band", fmt.Sprintf("payloads of %d to %d B a packet (assumed maximum payload %d B)",
			small, theory.MaxPayload, theory.MaxPayload), lo, hi)
	}
	if c.Dir == results.D2H {
		return refs
	}
	mem := c.Mem
	if mem == "registered" {
		mem = "pinned"
	}
	if b, ok := theory.PublishedBand(l, mem); ok {
		add("published", theory.PublishedSource, b.Lo, b.Hi)
	}
	if a, ok := theory.Article(c.batch, l); ok && c.Bytes == theory.ArticleBatch.Bytes() {
		refs = append(refs,
			results.Reference{Name: "article-theory", Metric: "time", Value: &a.Theory,
				Source: "claim A1, theory; " + theory.UnitSlip},
			results.Reference{Name: "article-practice", Metric: "time", Value: &a.Practice,
				Source: "claim A1, in practice: a rule of thumb, not a measurement"})
	}
	return refs
}

// failAboveLine fails a result that is faster than its own line.
func failAboveLine(r *results.Result, l theory.Link) {
	m, line := r.Metric("bandwidth"), l.LineRate()
	if m == nil || r.Status != results.OK || m.Median <= results.LineSlack*line {
		return
	}
	r.Status = results.Failed
	r.Reason = fmt.Sprintf("measured %s, faster than the line rate of %s (%s): "+
		"the link was read wrong or the copies did not happen; no result",
		results.FormatValue(m.Median, m.Unit), l.Title(), results.FormatValue(line, m.Unit))
	r.References = nil
}
