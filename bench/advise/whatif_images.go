package advise

import (
	"fmt"
	"math"

	"dlbench/bench/theory"
	"dlbench/results"
)

// usualSide is the shorter side that photographs of ImageNet's kind have, and smallSide
// the one to which they are commonly scaled before they are stored.
const (
	usualSide = 375
	smallSide = 256
)

// smallImages is the same images stored with a short side of so many pixels. What
// decoding takes goes with the pixels, what resampling takes with the rows; the bytes of
// smaller JPEGs are somewhat more a pixel.
func (m *loaderModel) smallImages(side int) change {
	c := change{name: fmt.Sprintf("JPEGs stored with a short side of %d pixels", side), kind: kindImages, cost: results.Free, beyond: true,
		note: "not measured: decoding taken as proportional to the pixels; crops lose detail"}
	c.apply = func(s *scenario) error {
		if m.base.Params.Text("strategy") != results.Online {
			return fmt.Errorf("the images are not decoded online")
		}
		have := m.side()
		if float64(side) >= have {
			return fmt.Errorf("the images' short side has %.0f pixels: none larger can be stored", have)
		}
		by := float64(side) / have
		decode, resample, rest := m.stages()
		share := (decode*by*by + resample*by + rest) / (decode + resample + rest)
		s.work *= share
		s.stored *= math.Pow(by, 1.7)
		s.readCPU *= math.Pow(by, 1.7)
		s.down, s.up = share/((decode*by+resample+rest)/(decode+resample+rest)), 1.05
		return nil
	}
	return c
}

// side is the images' shorter side, by what a case says of them.
func (m *loaderModel) side() float64 {
	if x := results.As[results.PipelineProof](m.base.Proof).ShortSide; x > 0 {
		return x
	}
	return usualSide
}

// stages is what an image takes to be decoded, resampled and put into the batch, s; by
// the preprocess suite, or the shares that are usual.
func (m *loaderModel) stages() (decode, resample, rest float64) {
	if l := results.UsualLine(m.rep.Results, results.Online); l != nil {
		r := l.First()
		if d, s, c := r.Metric("decode"), r.Metric("resample"), r.Metric("collate"); d != nil && s != nil && c != nil && d.Median > 0 {
			return d.Median, s.Median, c.Median
		}
	}
	return 0.75, 0.20, 0.05
}

// dtypeChange is another element type on the link.
func (m *loaderModel) dtypeChange(dtype string) change {
	c := change{name: dtype + " batches instead of " + m.batch.DType, kind: kindDType, cost: results.Free, beyond: true}
	if dtype == "uint8" {
		c.note = "the GPU normalises"
	}
	c.apply = func(s *scenario) error {
		s.setBytes(float64(theory.SizeOf(dtype)) / float64(theory.SizeOf(m.batch.DType)))
		if m.base.Params.Text("strategy") != results.Online {
			return nil
		}
		if by := m.dtypeRate(dtype) / m.dtypeRate(m.batch.DType); by > 0 && !math.IsInf(by, 0) {
			s.work /= by
		}
		return nil
	}
	return c
}

// dtypeRate is what one thread preprocesses into an element type, images/s; NaN or 0
// where it was not measured.
func (m *loaderModel) dtypeRate(dtype string) float64 {
	for _, l := range results.ScalingLines(m.rep.Results) {
		p := l.First().Params
		if p.Text("strategy") == results.Online && p.Int("threads") == 1 && p.Text("dtype") == dtype && p.Text("layout") != results.NCHW && p.Text("antialias") != results.Off &&
			p.Text("decoder") != "go" && p.Text("clock") == "" {
			return 1 / cpuOf(l.First(), 1/l.Rates[0].Value)
		}
	}
	return math.NaN()
}

// cpuOf is the CPU time that a case of the preprocess suite takes for an image, s, which
// other programs do not lengthen as they do the time by the clock; else is that.
func cpuOf(r *results.Result, otherwise float64) float64 {
	if m := r.Metric("cpu"); m != nil && m.Median > 0 {
		return min(m.Median, otherwise)
	}
	return otherwise
}

// prepared is strategy 2: images preprocessed before, read as uint8 records; by the
// pipeline's own case where there is one.
func (m *loaderModel) prepared() change {
	c := change{name: "images preprocessed before (strategy 2)", kind: kindStrategy, cost: results.Free,
		note: "not the same training: crops are fixed, or taken from what was stored"}
	var work []float64
	for _, r := range m.p.Find("strategy", results.Offline, "step", "0s", "free", results.FreeNothing) {
		if results.SameBut(r, m.base, "strategy") {
			work = theory.Times(seriesOf(r), float64(m.replay.Workers)*m.share())
			c.measured = true
		}
	}
	c.apply = func(s *scenario) error {
		if work == nil {
			return m.preparedApart(s)
		}
		m.prepare(s, work)
		return nil
	}
	return c
}

// preparedApart is strategy 2 by the preprocess suite, which reads records from the page
// cache.
func (m *loaderModel) preparedApart(s *scenario) error {
	l := results.UsualLine(m.rep.Results, results.Offline)
	if l == nil || l.Rates[0].Threads != 1 || m.base.Params.Text("strategy") != results.Online {
		return &NeedsError{"preprocess", "strategy 2, on data with a raw store"}
	}
	m.prepare(s, []float64{float64(m.batch.Images) * cpuOf(l.First(), 1/l.Rates[0].Value)})
	busy := m.replay.Workers + m.replay.Busy // which that one thread did not have beside it
	s.down = min(m.efficiency(l.Rates, busy), m.efficiency(controlsOf(l), busy))
	return nil
}

// prepare gives a scenario the work of preparing records.
func (m *loaderModel) prepare(s *scenario, work []float64) {
	s.r.Work = nil
	for _, x := range work {
		s.r.Work = append(s.r.Work, x+m.readCPU) // which replay takes away
	}
	s.readCPU, s.work = 0, 1
	s.stored = float64(m.batch.Images * m.batch.Height * m.batch.Width * m.batch.Channels)
	s.reads = float64(m.batch.Images)
	s.known = true // from the page cache, as measured, or from the disk that is assumed
}

// gpusChange is several GPUs that share the cores and the disk; each has its own link
// and its own step, with as many busy threads.
func (m *loaderModel) gpusChange(n int) change {
	c := change{name: fmt.Sprintf("%d GPUs, each", n), kind: kindGPUs, beyond: true}
	c.apply = func(s *scenario) error {
		share := s.cores / float64(n)
		if s.workers == max(1, int(math.Floor(s.cores))-s.r.Busy) { // else as many as the user wants
			s.workers = max(1, int(math.Floor(share))-s.r.Busy)
		}
		s.cores, s.loaders = share, n
		if s.disk.Emulated() {
			s.known = true
			s.disk.Rate /= float64(n)
			if s.disk.Seek {
				s.reads *= float64(n)
			}
		} else {
			s.r.Read = theory.Times(s.r.Read, float64(n))
		}
		return nil
	}
	return c
}

// prefetchChange is batches ahead.
func (m *loaderModel) prefetchChange(n int) change {
	return change{name: fmt.Sprintf("prefetch %d instead of %d", n, m.replay.Prefetch), kind: kindPrefetch, cost: results.Free, beyond: n > max(2, m.replay.Prefetch),
		apply: func(s *scenario) error { s.r.Prefetch = n; return nil }}
}

// workersChange is more or fewer workers on the same cores.
func (m *loaderModel) workersChange(n int) change {
	return change{name: fmt.Sprintf("%s instead of %d", results.Plural(n, "worker"), m.replay.Workers), kind: kindCores, cost: results.Free, beyond: true,
		apply: func(s *scenario) error { s.workers = n; return nil }}
}
