package pcie

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/cuda"
	"dlbench/results"
)

// bothCopy is a copier over an assumed link with another device in its background.
func bothCopy(t *testing.T, other cuda.Device, limit time.Duration) (*concurrentCopier, error) {
	t.Helper()
	c := &concurrentCopier{copier: opened(t, benchtest.Sim(t, "sim:gen3x16"), params{Dir: results.H2D, Mem: "pinned"})}
	return c, c.add(other, results.H2D, nil, 1, limit)
}

func TestBackgroundCopiesOnlyMeanwhile(t *testing.T) {
	var log []string
	c, err := bothCopy(t, traced(t, &log), time.Minute)
	benchtest.Must(t, err)
	for i := range 3 {
		before := c.counts.copies.Load()
		benchtest.Must(t, c.Sample(t.Context(), 1, &bench.Recorder{}))
		if c.counts.copies.Load() < before {
			t.Errorf("sample %d: %d copies", i, c.counts.copies.Load())
		}
		if !slices.Contains(log, "in") {
			t.Errorf("sample %d: %q", i, log)
		}
		log = nil // nothing copies until the next sample
	}
	if n := c.Size(1); n != leastConcurrent {
		t.Errorf("%d copies a sample", n)
	}
	r := results.Result{Status: results.OK}
	c.Report(&r)
	if others := results.As[results.PCIeProof](r.Proof).Background; !slices.Equal(others, []string{"sim:gen3x16 h2d"}) {
		t.Errorf("%v", r.Proof)
	}
	benchtest.Must(t, c.Close())
	if len(log) > 0 && slices.Contains(log, "in") {
		t.Errorf("copies after the last sample: %q", log)
	}
}

// The other device's failure is not this one's, whether it says so or stands still. One
// that does not open, so that no thread came to copy, is waited for by nobody.
func TestBackgroundFailureIsTheOtherDevices(t *testing.T) {
	for _, c := range []struct {
		name  string
		bind  error
		left  int // copies before that
		stuck bool
		want  string
	}{
		{"does not open", cuda.ErrUnavailable, 0, false, cuda.ErrUnavailable.Error()},
		{"fails at once", nil, 0, false, "lost"},
		{"fails in a sample", nil, 6, false, "lost"},
		{"stands still", nil, 2, true, bench.ErrStuck.Error()},
	} {
		stuck := make(chan struct{})
		copies := func(name string) error {
			if c.left -= strings.Count(name, "in"); c.left >= 0 {
				return nil
			}
			if c.stuck {
				<-stuck
			}
			return cuda.ErrLost
		}
		other := tampered{Device: benchtest.Sim(t, "sim:gen3x16"), info: &cuda.Info{Spec: "cuda:7"}, bind: c.bind,
			call: copies}
		k, err := bothCopy(t, other, 50*time.Millisecond)
		for tries := 0; err == nil && tries < 10; tries++ {
			err = k.Sample(t.Context(), 1, &bench.Recorder{})
		}
		var skip *bench.SkipError
		if !errors.As(err, &skip) || errors.Is(err, cuda.ErrLost) || errors.Is(err, bench.ErrStuck) ||
			!strings.Contains(skip.Reason, "cuda:7, which should copy at the same time") ||
			!strings.Contains(skip.Reason, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		k.others[0].limit = time.Hour // it was waited for once
		k.Close()
		close(stuck)
	}
}
