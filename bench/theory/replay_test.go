package theory

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func always(s float64) []float64 { return []float64{s} }

// With constant times serial is the sum of the parts, and overlapped the longest.
func TestReplayClosedForms(t *testing.T) {
	for _, c := range []struct {
		name  string
		r     Replay
		want  float64
		stall Stall
	}{
		{"serial", Replay{Read: always(3), Work: always(5), Copy: always(2), Step: 7}, 17, Stall{3, 5, 2}},
		{"serial, two workers share a batch", Replay{Read: always(4), Work: always(6), Copy: always(2), Step: 7, Workers: 2, Pieces: 2}, 14, Stall{2, 3, 2}},
		{"the step hides all", Replay{Read: always(3), Work: always(5), Copy: always(2), Step: 10, Prefetch: 2}, 10, Stall{}},
		{"a worker reads and preprocesses", Replay{Read: always(3), Work: always(5), Copy: always(2), Step: 7, Prefetch: 2}, 8, Stall{3. / 8, 5. / 8, 0}},
		{"two workers", Replay{Read: always(3), Work: always(5), Copy: always(2), Prefetch: 2, Workers: 2, Pieces: 2}, 4, Stall{Read: 1.5, Preprocess: 2.5}},
		{"the link", Replay{Read: always(3), Work: always(5), Copy: always(9), Step: 1, Prefetch: 2}, 9, Stall{Copy: 8}},
		{"one disk for all", Replay{Read: always(4), Work: always(1), Prefetch: 2, Workers: 4, Pieces: 4, OneDisk: true}, 4, Stall{Read: 3.75, Preprocess: 0.25}},
		{"a disk each", Replay{Read: always(4), Prefetch: 4, Workers: 4, Pieces: 4}, 1, Stall{Read: 1}},
		{"latencies overlap", Replay{Read: always(1), Latency: 1, Prefetch: 8, Workers: 8, Pieces: 8, OneDisk: true}, 1.125, Stall{Read: 1.125}},
		{"half a core", Replay{Work: always(5), Prefetch: 2, Cores: 1, Busy: 1}, 10, Stall{Preprocess: 10}},
		{"busy elsewhere", Replay{Work: always(5), Prefetch: 2, Cores: 2, Busy: 1}, 5, Stall{Preprocess: 5}},
		{"more workers than cores", Replay{Work: always(6), Prefetch: 2, Workers: 4, Pieces: 4, Cores: 2}, 3, Stall{Preprocess: 3}},
		{"pageable: the copy holds up", Replay{Work: always(1), Hold: always(4), Prefetch: 2}, 4, Stall{Copy: 4}},
		{"staged: copied twice, in turn", Replay{Hold: always(4), Copy: always(3), Prefetch: 2}, 4, Stall{Copy: 4}},
		{"nothing", Replay{Prefetch: 2}, 0, Stall{}},
	} {
		o := c.r.Run()
		if got := o.Mean(); math.Abs(got-c.want) > 1e-9*(1+c.want) {
			t.Errorf("%s: a step takes %v, want %v", c.name, got, c.want)
		}
		for _, d := range []float64{o.By.Read - c.stall.Read, o.By.Preprocess - c.stall.Preprocess, o.By.Copy - c.stall.Copy} {
			if math.Abs(d) > 0.02*c.want && c.name != "latencies overlap" {
				t.Errorf("%s: stalls %+v, want %+v", c.name, o.By, c.stall)
				break
			}
		}
		if c.r.Step > 0 && math.Abs(o.Utilisation-c.r.Step/c.want) > 1e-9 {
			t.Errorf("%s: utilisation %v", c.name, o.Utilisation)
		}
	}
}

// Prefetch hides a batch that takes long now and then, as far as it is deep.
func TestReplayPrefetchHidesJitter(t *testing.T) {
	work := []float64{1, 1, 1, 1, 1, 1, 1, 8} // 15 for 8 batches, which 8 steps of 2 cover
	last := math.Inf(1)
	for _, prefetch := range []int{0, 1, 2, 4, 8} {
		o := Replay{Work: work, Step: 2, Prefetch: prefetch, Batches: 80}.Run()
		if o.Mean() > last+1e-9 {
			t.Errorf("prefetch %d: %v, which is slower than %v with less", prefetch, o.Mean(), last)
		}
		last = o.Mean()
	}
	if math.Abs(last-2) > 1e-9 {
		t.Errorf("with prefetch 8 a step takes %v, want 2", last)
	}
}

// randomReplay is a small instance in whole ticks.
func randomReplay(random *rand.Rand) Replay {
	part := func(most int) (p []float64) {
		for range 1 + random.IntN(5) {
			p = append(p, float64(12*random.IntN(most)))
		}
		return p
	}
	return Replay{Read: part(5), Work: part(8), Copy: part(4), Hold: part(2), Step: float64(random.IntN(40)), Prefetch: random.IntN(4),
		Workers: 1 + random.IntN(3), Pieces: 1 + random.IntN(4), OneDisk: random.IntN(2) == 0, Batches: 10}
}

// bruteForce is the pipeline by its rules, as recurrences over pieces: with a core for
// each thread no event depends on a later one.
func bruteForce(r Replay) []float64 {
	batches := r.Batches + 2*r.Prefetch + 4
	free := make([]float64, r.Workers) // workers
	slot := make([]float64, batches+r.Prefetch+2)
	end := make([]float64, batches)
	copied := make([]float64, batches)
	var disk, link, handed float64
	for b := range batches {
		loaded := 0.0
		for range r.Pieces {
			w := 0
			for i := range free {
				if free[i] < free[w] {
					w = i
				}
			}
			start := max(free[w], slot[b])
			n := r.Read[b%len(r.Read)] / float64(r.Pieces)
			read := start + n
			if r.OneDisk {
				disk = max(disk, start) + n
				read = disk
			}
			free[w] = read + r.Work[b%len(r.Work)]/float64(r.Pieces)
			loaded = max(loaded, free[w])
		}
		handed = max(handed, loaded)
		if b >= 2 {
			handed = max(handed, end[b-2])
		}
		handed += r.Hold[b%len(r.Hold)]
		link = max(link, handed) + r.Copy[b%len(r.Copy)]
		copied[b] = link
		end[b] = link + r.Step
		if b > 0 {
			end[b] = max(link, end[b-1]) + r.Step
		}
		if r.Prefetch == 0 {
			handed = end[b]
			slot[b+1] = end[b]
		} else if b > 0 {
			handed = max(handed, copied[b-1])
			slot[b+r.Prefetch] = handed // b-1 was given back
		}
	}
	var steps []float64
	for b := batches - r.Batches; b < batches; b++ {
		steps = append(steps, end[b]-end[b-1])
	}
	return steps
}

func TestReplayAgainstBruteForce(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		r := randomReplay(random)
		got, want := r.Run().Steps, bruteForce(r)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-6 {
				t.Fatalf("%+v:\n%v, want\n%v", r, got, want)
			}
		}
	}
}

// More of anything is never slower.
func TestReplayMonotone(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	for range 1000 {
		r := randomReplay(random)
		if len(r.Copy) == 0 {
			continue
		}
		r.Workers = min(r.Workers, r.Pieces) // more have nothing to do
		r.Batches = 40
		r.Cores = float64(1 + random.IntN(4))
		base := r.Run().Mean()
		for name, change := range map[string]func(*Replay){
			"prefetch": func(r *Replay) { r.Prefetch++ },
			"cores":    func(r *Replay) { r.Cores++ },
			"link":     func(r *Replay) { r.Copy = Times(r.Copy, 0.5) },
			"disk":     func(r *Replay) { r.Read = Times(r.Read, 0.5) },
			"pinned":   func(r *Replay) { r.Hold = nil },
			"step":     func(r *Replay) { r.Step /= 2 },
		} {
			x := r
			change(&x)
			// What fills the queues differs, and how cores are shared: a batch more or less in 40.
			if got := x.Run().Mean(); got > base*1.10+1e-9 {
				t.Errorf("more %s: %v instead of %v\n%+v", name, got, base, r)
			}
		}
	}
}

func TestReplayInterval(t *testing.T) {
	r := Replay{Work: []float64{4, 5, 6, 5, 4, 6, 5, 5, 4, 6}, Prefetch: 2}
	lo, hi := r.Interval(Replayed.Mean)
	if lo > 5 || hi < 5 || lo < 4 || hi > 6 || lo == hi {
		t.Errorf("[%v, %v]", lo, hi)
	}
	if a, b := r.Interval(Replayed.Mean); a != lo || b != hi {
		t.Errorf("another interval the second time: [%v, %v]", a, b)
	}
	r.Work = always(5)
	if lo, hi := r.Interval(Replayed.Mean); math.Abs(lo-5) > 1e-9 || math.Abs(hi-5) > 1e-9 {
		t.Errorf("without spread [%v, %v]", lo, hi)
	}
}

func BenchmarkReplay(b *testing.B) {
	r := Replay{Read: []float64{1, 2}, Work: []float64{40, 42, 39}, Copy: always(1.5), Prefetch: 2, Workers: 7, Pieces: 32, Cores: 8, Busy: 1}
	for b.Loop() {
		r.Run()
	}
}

// Whatever a report says, a replay ends.
func TestReplayEnds(t *testing.T) {
	for _, r := range []Replay{{}, {Work: always(1e300), Copy: always(1e300), Step: 1e300}, {Read: always(1e308), Work: always(1e308), OneDisk: true, Prefetch: 3, Workers: 3, Pieces: 5},
		{Work: always(1e-300), Cores: 1e-9, Busy: 7, Prefetch: 1000}, {Workers: 1000, Pieces: 1, Work: always(1), Prefetch: 2}, {Work: always(1e9), Read: always(1e-9), Workers: 3, Pieces: 7, Cores: 1.5, Prefetch: 1}} {
		if n := len(r.Run().Steps); n != replayedBatches {
			t.Errorf("%d steps", n)
		}
	}
}

// Workers beyond the pieces that can be begun change nothing.
func TestReplayIdleWorkers(t *testing.T) {
	r := Replay{Read: []float64{1e-3, 3e-3}, Work: []float64{0.1, 0.07, 0.2}, Copy: []float64{2e-3}, Pieces: 4, Prefetch: 1, Workers: 8, Cores: 64}
	want := r.Run()
	for _, n := range []int{9, 64, 100000} {
		r.Workers = n
		if have := r.Run(); !slices.Equal(have.Steps, want.Steps) {
			t.Errorf("%d workers: %v a step, 8 take %v", n, have.Mean(), want.Mean())
		}
	}
}
