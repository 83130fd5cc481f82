package synth

import (
	"context"
	"runtime"
	"sync"

	"dlbench/loader"
)

// sample is one image on its way from a worker to the stores.
type sample struct {
	index        int
	label        int
	image        []byte // a whole image file
	ext          string // of its format, with a dot
	imageDigest  digest
	tensor       []byte // one image of a raw or tensor store
	tensorDigest digest
	skipped      *loader.Skipped // why it cannot be a sample

	done chan error
}

// work makes one sample after the other, for one goroutine.
type work interface {
	make(*sample) error
	close()
}

// ordered makes samples 0 to n-1 on all usable CPUs and hands them to emit, in
// order and one at a time. Each worker has a work of its own. A sample's buffers
// are used again after emit. The first error ends it all.
func ordered(ctx context.Context, n int, newWork func() (work, error), emit func(*sample) error) error {
	workers := max(1, min(n, runtime.GOMAXPROCS(0)))
	depth := 4 * workers
	free, jobs, pending := make(chan *sample, depth), make(chan *sample, depth), make(chan *sample, depth)
	for range depth {
		free <- &sample{done: make(chan error, 1)}
	}
	stop := make(chan struct{})
	var running sync.WaitGroup
	defer running.Wait()
	defer close(stop)
	running.Go(func() {
		defer close(jobs)
		for i := range n {
			select {
			case <-stop:
				return
			case s := <-free:
				s.index, s.skipped = i, nil
				pending <- s // neither is ever full: they hold what free held
				jobs <- s
			}
		}
	})
	for range workers {
		running.Go(func() {
			w, err := newWork()
			if err == nil {
				defer w.close()
			}
			for s := range jobs {
				select {
				case <-stop:
					return
				default:
				}
				if err == nil {
					s.done <- w.make(s)
				} else {
					s.done <- err
				}
			}
		})
	}
	for range n {
		s := <-pending
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-s.done:
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = emit(s)
			}
			if err != nil {
				return err
			}
			free <- s
		}
	}
	return nil
}
