package theory

// Replay is a loader whose parts take what was measured of them, batch by batch: read,
// preprocess, copy and step, each while the next works on the batch before, with
// bounded queues between them. Times are in seconds.
//
// It goes by the rules of the pipeline it stands for. Workers take pieces of batches in
// their order; a worker reads a piece and then preprocesses it. A batch is begun when
// its slot is free: there are Prefetch+1 of them, and one is free again once its batch
// was copied. The device holds two batches. With Prefetch 0 a batch is read, made,
// copied and worked on before the next one is begun.
//
// Workers that calculate and the threads that the step keeps busy share the cores
// evenly; a wait for the disk takes none.
type Replay struct {
	// Of one batch each, gone through again and again; nil for a part that is free.
	Read []float64 // waiting for the disk, of one worker alone
	Work []float64 // CPU time of reading and preprocessing
	Copy []float64 // over the link
	Hold []float64 // that handing over holds up the thread which does it: a pageable copy, staging

	Step     float64
	Prefetch int
	Workers  int     // 0 is 1
	Pieces   int     // of a batch, that workers share; 0 is 1
	Cores    float64 // 0 is as many as there are threads
	Busy     int     // threads that the step keeps busy
	OneDisk  bool    // reads are served one after the other
	Latency  float64 // of a piece, beside Read; OneDisk overlaps it
	Batches  int     // that are replayed, beside those that fill the queues; 0 is 100
}

// Stall is how long the device stands still for each part, s a batch.
type Stall struct{ Read, Preprocess, Copy float64 }

// Replayed is what a Replay tells: the time from the end of each step to that of the
// next, and how long the device then stood still.
type Replayed struct {
	Steps       []float64
	Stalls      []float64
	By          Stall   // on average
	Utilisation float64 // share of the time that the device works; 0 without a step
}

// Mean is the mean time of a step.
func (r Replayed) Mean() float64 {
	sum := 0.0
	for _, s := range r.Steps {
		sum += s
	}
	return sum / float64(len(r.Steps))
}

// Run replays the loader. The same parts give the same times.
func (r Replay) Run() Replayed {
	e := newReplaying(r)
	for e.next < e.batches {
		e.settle()
		e.advance()
	}
	return e.outcome()
}

// outcome takes the times of the batches after those that fill the queues.
func (e *replaying) outcome() Replayed {
	var o Replayed
	var total, busy float64
	for b := e.batches - e.r.Batches; b < e.batches; b++ {
		x, last := &e.made[b], e.made[b-1].end
		since, gap := x.end-last, x.begun-last
		o.Steps, o.Stalls = append(o.Steps, since), append(o.Stalls, gap)
		loading := min(gap, x.loaded-x.asked) // a batch that is there when it is asked for is late by its copy
		copying := gap - loading
		if all := x.reading + x.working; all > 0 {
			o.By.Read += loading * x.reading / all
			o.By.Preprocess += loading * x.working / all
		}
		o.By.Copy += copying
		total, busy = total+since, busy+e.r.Step
	}
	n := float64(e.r.Batches)
	o.By = Stall{o.By.Read / n, o.By.Preprocess / n, o.By.Copy / n}
	if total > 0 {
		o.Utilisation = busy / total
	}
	return o
}

// at is a part's time of batch b.
func at(part []float64, b int) float64 {
	if len(part) == 0 {
		return 0
	}
	return part[b%len(part)]
}
