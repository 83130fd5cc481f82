package pcie

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/results"
)

// bufferPool is the buffers that the cases of one device share: one of each kind, as
// large as the largest copy, so that memory does not grow with the number of
// cases. All calls come with the device bound.
type bufferPool struct {
	device  cuda.Device
	evictor *evictor
	seed    uint64
	largest int64 // B

	mutex   sync.Mutex // a case that was given up on may come back late
	open    int        // cases
	buffers map[bufferKey]*cuda.Buffer
}

type bufferKey struct {
	kind   cuda.Kind
	no     int  // 0 for copies to the device, 1 for those from it, 2 for what is made on it
	remote bool // on another NUMA node than the device
}

// bufferOf is what a case copies from or to in memory of a kind.
func bufferOf(p params, k cuda.Kind) bufferKey {
	key := bufferKey{kind: k, remote: p.NUMA == results.NUMARemote}
	if p.Dir == results.D2H {
		key.no = 1
	}
	return key
}

// pair returns what a case copies, and where to.
func (p *bufferPool) pair(of params) (pair copyPair, err error) {
	dst, src := cuda.OnDevice, kinds[of.Mem]
	if of.Dir == results.D2H {
		dst, src = src, dst
	}
	if pair.Dst, err = p.get(bufferOf(of, dst), of.Bytes); err == nil {
		pair.Src, err = p.get(bufferOf(of, src), of.Bytes)
	}
	return pair, err
}

// get returns the first size bytes of a buffer. Host memory is filled with random
// bytes and so touched: what zeros would do to compression on the link, or to
// pages that were never written, is no measurement.
func (p *bufferPool) get(key bufferKey, size int64) (*cuda.Buffer, error) {
	p.mutex.Lock()
	b := p.buffers[key]
	p.mutex.Unlock()
	if b == nil {
		var err error
		if b, err = p.device.Alloc(key.kind, int(max(p.largest, size))); err != nil {
			return nil, err
		}
		bench.Randomize(b.Host, p.seed+uint64(key.no))
		p.mutex.Lock()
		defer p.mutex.Unlock()
		if p.buffers == nil {
			p.buffers = map[bufferKey]*cuda.Buffer{}
		}
		p.buffers[key] = b
	}
	return b.View(int(size)), nil
}

// use is called by each case that opens.
func (p *bufferPool) use() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.open++
}

// release frees the buffers when the last open case is closed.
func (p *bufferPool) release() (err error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.open--; p.open > 0 {
		return nil
	}
	for _, b := range p.buffers {
		err = errors.Join(err, b.Free())
	}
	clear(p.buffers)
	return err
}

// queue is a stream of a device with events to record in it. err is the first error of
// its calls; those after it do nothing.
type queue struct {
	device cuda.Device
	stream cuda.Stream
	events []cuda.Event
	err    error
}

func (q *queue) open(events int) {
	q.stream = bench.Unless(&q.err, q.device.NewStream)
	for range events {
		q.events = append(q.events, bench.Unless(&q.err, q.device.NewEvent))
	}
}

// bound calls f with this thread bound to the device.
func (q *queue) bound(f func() error) error {
	unbind, err := q.device.Bind()
	if err != nil {
		return err
	}
	defer unbind()
	return f()
}

// do calls something unless there was an error.
func (q *queue) do(call func() error) {
	if q.err == nil {
		q.err = call()
	}
}

func (q *queue) copy(p copyPair) {
	q.do(func() error { return q.device.Copy(p.Dst, p.Src, q.stream) })
}
func (q *queue) record(event int) {
	q.do(func() error { return q.device.Record(q.events[event], q.stream) })
}
func (q *queue) syncEvent(event int) {
	q.do(func() error { return q.device.SyncEvent(q.events[event]) })
}
func (q *queue) sync() { q.do(func() error { return q.device.SyncStream(q.stream) }) }

// reached reports whether an event is reached; it is not after an error.
func (q *queue) reached(event int) bool {
	yes := bench.Unless(&q.err, func() (bool, error) { return q.device.Reached(q.events[event]) })
	return yes && q.err == nil
}

// elapsed is the time between two events, 0 after an error.
func (q *queue) elapsed(start, stop int) time.Duration {
	return bench.Unless(&q.err, func() (time.Duration, error) { return q.device.Elapsed(q.events[start], q.events[stop]) })
}

func (q *queue) close() error {
	err := q.device.CloseStream(q.stream)
	for _, e := range q.events {
		err = errors.Join(err, q.device.CloseEvent(e))
	}
	return err
}

const (
	deviceBuffers = 3        // on a device: in, out, and what is copied in the background
	memoryReserve = 64 << 20 // for the program itself
)

// hostBuffers bounds the host buffers that cases of a device share: one of each kind of copy
// and of each other device in the background, and four more. These are what staged copies come
// from, what a case checks with, what is copied while the link is read and in the other
// direction; over a simulated link, what is "on the device".
func hostBuffers(points []params, others int) int64 {
	kinds := map[params]bool{}
	for _, p := range points {
		kinds[params{Mem: p.Mem, Dir: p.Dir, NUMA: p.NUMA}] = true
	}
	return int64(len(kinds) + others + 4)
}

// fits says, before anything is allocated, why copies of so many bytes have no room for their
// buffers, nil when they have: for hosts buffers in host memory, and for deviceBuffers on the
// device. What is not known of the memory does not limit them.
func fits(env bench.Env, d cuda.Info, bytes, hosts int64) *bench.UsageError {
	where, buffers, room := env.Host.Memory.Where(), hosts, int64(math.MaxInt64)
	if have := env.Host.Memory.Available; have > 0 {
		room = max(0, have-memoryReserve-int64(evictorFor(env).size)) / hosts
	}
	if bytes <= room && d.Free > 0 {
		where, buffers, room = d.Spec, deviceBuffers, d.Free/deviceBuffers
	}
	if bytes <= room {
		return nil
	}
	u := &bench.UsageError{Flag: "--batch", Value: strconv.Itoa(env.Batch.Images)}
	if given := env.Axes["bytes"]; len(given) > 0 {
		u.Flag, u.Value = "-a", "bytes="+strings.Join(given, ",")
	}
	u.Want = fmt.Sprintf("copies of %s need %s for their buffers; %s has %s free, enough for copies of %s",
		results.FormatBytes(bytes), results.FormatBytes(buffers*bytes),
		where, results.FormatBytes(buffers*room), results.FormatBytes(room))
	return u
}
