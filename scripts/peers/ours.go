package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"dlbench/loader"
)

// sampleBytes is a sample of float32.
const sampleBytes = height * width * 3 * 4

// ours is dlbench's loader: as many threads as there are cores, each with a reader, a
// preprocessor and a batch of its own, take the next batch when they are done.
type ours struct {
	set      *loader.Set
	order    []int32 // samples of a pass
	does     string
	software map[string]string
	next     atomic.Int64 // batch
	start    chan struct{}
	done     chan error
	closed   sync.WaitGroup
}

// newOurs makes a loader whose threads are ready.
func newOurs(set *loader.Set, decoder string, cores, epochs int) (*ours, error) {
	l := &ours{set: set, start: make(chan struct{}), done: make(chan error, cores)}
	for range epochs {
		for i := range set.Samples {
			l.order = append(l.order, int32(i))
		}
	}
	l.does, l.software = describe(decoder, cores)
	var failed error
	for range cores {
		l.closed.Go(func() { l.thread(decoder) })
	}
	for range cores {
		if err := <-l.done; err != nil {
			failed = err
		}
	}
	if failed != nil {
		l.close()
		return nil, failed
	}
	return l, nil
}

// thread makes batches of a pass each time that one starts.
func (l *ours) thread(decoder string) {
	runtime.LockOSThread()
	reader, err := loader.NewReader(l.set, loader.ReadOptions{})
	if err != nil {
		l.done <- err
		return
	}
	defer reader.Close()
	p, err := newPreprocessor(decoder)
	l.done <- err
	if err != nil {
		return
	}
	defer p.Close()
	dst := make([]byte, batch*sampleBytes)
	at, epoch := 0, 0 // in the batch
	visit := func(sample int32, data []byte) error {
		at++
		damage, err := p.Image(dst[(at-1)*sampleBytes:at*sampleBytes], data, loader.Place{At: at, Epoch: epoch, Sample: sample})
		if err == nil && damage != "" {
			err = errors.New(damage)
		}
		return err
	}
	for range l.start {
		var err error
		for err == nil {
			from := int(l.next.Add(1)-1) * batch
			if from >= len(l.order) {
				break
			}
			at, epoch = 0, epoch+1 // other crops each time
			_, err = reader.Read(l.order[from:min(from+batch, len(l.order))], visit)
		}
		l.done <- err
	}
}

// pass makes all batches once.
func (l *ours) pass() (images int, err error) {
	threads := cap(l.done)
	l.next.Store(0)
	for range threads {
		l.start <- struct{}{}
	}
	var errs []error
	for range threads {
		errs = append(errs, <-l.done)
	}
	if err := errors.Join(errs...); err != nil {
		return 0, fmt.Errorf("preprocess: %w", err)
	}
	return len(l.order), nil
}

func (l *ours) close() {
	close(l.start)
	l.closed.Wait()
}
