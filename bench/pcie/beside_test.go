package pcie

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// bothWays is a copier over an assumed link beside a device that copies meanwhile.
func bothWays(t *testing.T, other cuda.Device, limit time.Duration) (*besideCopier, error) {
	t.Helper()
	p := &pool{device: benchtest.Sim(t, "sim:gen3x16"), largest: 1 << 20}
	r, err := openCopy(benchtest.Env(), p, newEvictor(1), copySpec{dir: results.H2D, mem: "pinned", bytes: 1 << 20, images: 1, article: theory.ArticleBatch}, placement{node: -1})
	if err != nil {
		t.Fatal(err)
	}
	c := &besideCopier{copier: r.(*copier)}
	b, err := newBeside(other, results.H2D, 1<<20, 1, nil, limit)
	c.others = []*beside{b}
	return c, err
}

func TestBesideCopiesOnlyInTurns(t *testing.T) {
	var log []string
	c, err := bothWays(t, traced{benchtest.Sim(t, "sim:gen3x16"), &log}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		before := c.others[0].copies.Load()
		if err := c.Sample(t.Context(), 1, &bench.Recorder{}); err != nil {
			t.Fatal(err)
		}
		if c.others[0].copies.Load() < before {
			t.Errorf("turn %d: %d copies", i, c.others[0].copies.Load())
		}
		if !slices.Contains(log, "in") {
			t.Errorf("turn %d: %q", i, log)
		}
		log = nil // its thread waits for the next turn
	}
	if n := c.Size(1); n != leastBesideCopies {
		t.Errorf("%d copies a sample", n)
	}
	r := results.Result{Status: results.OK}
	c.Report(&r)
	if beside := results.As[results.PCIeProof](r.Proof).Beside; len(beside) != 1 || beside[0] != "sim:gen3x16 h2d" {
		t.Errorf("%v", r.Proof)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if len(log) > 0 && slices.Contains(log, "in") {
		t.Errorf("copies after the last turn: %q", log)
	}
}

// unwilling is a device whose copies fail or stand still from some copy on.
type unwilling struct {
	cuda.Device
	left  *int
	err   error
	stuck chan struct{} // nil: they fail
}

func (d unwilling) Info() cuda.Info { return cuda.Info{Spec: "cuda:7"} }

func (d unwilling) Copy(dst, src *cuda.Buffer, s cuda.Stream) error {
	if *d.left--; *d.left >= 0 {
		return d.Device.Copy(dst, src, s)
	}
	if d.stuck != nil {
		<-d.stuck
	}
	return d.err
}

// The other device's failure is not this one's, whether it says so or stands still.
func TestBesideFailureIsTheOtherDevices(t *testing.T) {
	stuck := make(chan struct{})
	for _, c := range []struct {
		name  string
		stuck chan struct{}
		left  int
		want  string
	}{{"fails at once", nil, 0, "lost"}, {"fails in a turn", nil, 6, "lost"}, {"stands still", stuck, 2, bench.ErrStuck.Error()}} {
		left := c.left
		k, err := bothWays(t, unwilling{benchtest.Sim(t, "sim:gen3x16"), &left, cuda.ErrLost, c.stuck}, 50*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if err = k.Sample(t.Context(), 1, &bench.Recorder{}); err != nil {
				break
			}
		}
		var skip *bench.SkipError
		if !errors.As(err, &skip) || errors.Is(err, cuda.ErrLost) || errors.Is(err, bench.ErrStuck) || !strings.Contains(skip.Reason, "cuda:7, which should copy at the same time") || !strings.Contains(skip.Reason, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.stuck != nil {
			k.others[0].limit = time.Hour // it was waited for once
		}
		k.Close()
		if c.stuck != nil {
			close(stuck)
		}
	}
}

// closed is a device that does not open.
type closed struct{ cuda.Device }

func (closed) Bind() (func(), error) { return nil, cuda.ErrUnavailable }

// Nothing is to be waited for where no thread came to copy.
func TestBesideDeviceThatDoesNotOpen(t *testing.T) {
	c, err := bothWays(t, closed{benchtest.Sim(t, "sim:gen3x16")}, time.Hour)
	if !errors.Is(err, cuda.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
