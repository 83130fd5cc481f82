//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/loader/transform"
	"dlbench/results"
)

// sampleBytes is a sample of float32.
const sampleBytes = height * width * 3 * 4

// serve is dlbench's own worker: it makes a pass for each line of in.
func serve(in io.Reader, out io.Writer, o options) error {
	if len(o.cores) != 1 {
		return fmt.Errorf("-cores %v: a worker wants one number", o.cores)
	}
	reply := json.NewEncoder(out)
	// A read that blocks keeps its processor for a while.
	runtime.GOMAXPROCS(o.cores[0] + 1)
	l, h, err := newOurs(o, o.cores[0])
	switch {
	case errors.Is(err, decode.ErrNoLibrary):
		h.Skip = err.Error()
	case err != nil:
		h.Error = err.Error()
	}
	if encoded := reply.Encode(h); encoded != nil || err != nil {
		return encoded
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		p, err := timed(l.pass)
		if err != nil {
			p.Error = err.Error()
		}
		if err := reply.Encode(p); err != nil {
			return err
		}
	}
	return lines.Err()
}

// timed times one call of f, which says how many images it made.
func timed(f func() (images int, err error)) (p pass, err error) {
	before, err := cpuTime()
	if err != nil {
		return p, err
	}
	began := time.Now()
	p.Images, err = f()
	p.Wall = time.Since(began).Seconds()
	after, cerr := cpuTime()
	p.CPU = (after - before).Seconds()
	return p, errors.Join(err, cerr)
}

// cpuTime is the CPU time of this process so far.
func cpuTime() (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err
}

// ours is dlbench's loader: as many threads as there are cores take the next batch when
// they are done.
type ours struct {
	order   []int32 // samples of a pass
	threads []*thread
	next    atomic.Int64 // batch
}

// thread is what each thread has of its own.
type thread struct {
	reader *loader.Reader
	pre    *loader.Preprocessor
	batch  []byte
	epoch  int // other crops each time
}

// newOurs makes a loader, and says what it does.
func newOurs(o options, cores int) (l *ours, h hello, err error) {
	set, err := loader.Open(o.data, loader.OpenOptions{Store: loader.Files})
	if err != nil {
		return nil, h, err
	}
	threads := results.Plural(cores, "thread")
	h = hello{Files: len(set.Files), Bytes: set.Bytes, Software: map[string]string{"Go": runtime.Version()},
		Does: fmt.Sprintf("dlbench's loader, decoder %s, %s, antialiased", o.decoder, threads)}
	l = &ours{}
	for len(l.order) < o.images {
		for i := range set.Samples {
			l.order = append(l.order, int32(i))
		}
	}
	h.Images = len(l.order)
	if version, ok := strings.CutPrefix(loader.DecoderName(o.decoder), "libjpeg-turbo "); ok {
		h.Software["libjpeg-turbo"] = version
	}
	for range cores {
		t := &thread{batch: make([]byte, batch*sampleBytes)}
		if t.reader, err = loader.NewReader(set, loader.ReadOptions{}); err != nil {
			return nil, h, err
		}
		t.pre, err = loader.NewPreprocessor(loader.PreprocessOptions{Decoder: o.decoder, Seed: 1,
			Sample: transform.Options{Height: height, Width: width, DType: "float32", Layout: "nhwc"}})
		if err != nil {
			return nil, h, err
		}
		l.threads = append(l.threads, t)
	}
	return l, h, nil
}

// pass makes all batches once.
func (l *ours) pass() (images int, err error) {
	l.next.Store(0)
	errs := make([]error, len(l.threads))
	var running sync.WaitGroup
	for i, t := range l.threads {
		running.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			errs[i] = l.batches(t)
		})
	}
	running.Wait()
	if err := errors.Join(errs...); err != nil {
		return 0, fmt.Errorf("preprocess: %w", err)
	}
	return len(l.order), nil
}

// batches makes batches on one thread until there are no more.
func (l *ours) batches(t *thread) error {
	for {
		from := int(l.next.Add(1)-1) * batch
		if from >= len(l.order) {
			return nil
		}
		t.epoch++
		at := 0 // in the batch
		visit := func(sample int32, data []byte) error {
			at++
			dst := t.batch[(at-1)*sampleBytes : at*sampleBytes]
			damage, err := t.pre.Image(dst, data, loader.Place{At: at, Epoch: t.epoch, Sample: sample})
			if err == nil && damage != "" {
				err = errors.New(damage)
			}
			return err
		}
		if _, err := t.reader.Read(l.order[from:min(from+batch, len(l.order))], visit); err != nil {
			return err
		}
	}
}
