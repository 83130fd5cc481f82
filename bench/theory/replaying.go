package theory

import "math"

// replaying is a Replay while it runs, from event to event.
type replaying struct {
	r       Replay
	batches int // with those that fill the queues
	now     float64

	workers []replayWorker
	claimed int     // pieces
	started int     // of them, in their order
	limit   int     // batches before this one may be begun
	disk    float64 // free from then on, with OneDisk
	made    []replayBatch

	stage replayStage // of the thread that hands batches over
	next  int         // batch that it hands over
	freed int         // slots that were given back
	wake  float64     // when it goes on; infinite: when the next batch is ready
	link  float64     // free from then on
}

type replayBatch struct {
	pieces             int     // that are not made yet
	asked, loaded      float64 // by the thread that hands over
	copied, begun, end float64
	reading, working   float64 // by the clock, of all pieces
}

type replayWorker struct {
	piece int // counted through all batches
	batch int
	phase replayPhase
	until float64 // of reading
	left  float64 // CPU time of working
	since float64 // the phase began
}

type replayPhase int

const (
	idle    replayPhase = iota
	waiting             // for a slot
	reading
	working
)

type replayStage int

const (
	asking     replayStage = iota // for the next batch
	submitting                    // waits while the device has two
	holding
	finishing // a serial step
	releasing // slots whose copies are done
)

// slack is what rounding may make of two events at one time.
const slack = 1e-12

// replayedBatches is how many batches are replayed unless something is said.
const replayedBatches = 100

func newReplaying(r Replay) *replaying {
	r.Workers, r.Pieces, r.Prefetch = max(1, r.Workers), max(1, r.Pieces), max(0, r.Prefetch)
	if r.Batches < 1 {
		r.Batches = replayedBatches
	}
	if r.Cores <= 0 {
		r.Cores = float64(r.Workers + r.Busy)
	}
	if r.Workers/r.Pieces > r.Prefetch {
		r.Workers = (r.Prefetch + 1) * r.Pieces // more never have a piece
	}
	e := &replaying{r: r, batches: r.Batches + 2*r.Prefetch + 4, limit: r.Prefetch + 1, workers: make([]replayWorker, r.Workers)}
	e.made = make([]replayBatch, e.batches)
	for i := range e.made {
		e.made[i].pieces, e.made[i].asked = r.Pieces, -1
	}
	return e
}

// settle does everything that happens at this time.
func (e *replaying) settle() {
	for moved := true; moved && e.next < e.batches; {
		moved = false
		for i := range e.workers {
			for e.work(&e.workers[i]) {
				moved = true
			}
		}
		for e.next < e.batches && e.hand() {
			moved = true
		}
	}
}

// work takes a worker on to its next phase, if it is at the end of the last one.
func (e *replaying) work(w *replayWorker) bool {
	switch w.phase {
	case idle:
		w.piece, w.batch, w.phase = e.claimed, e.claimed/e.r.Pieces, waiting
		e.claimed++
	case waiting:
		if w.piece != e.started || w.batch >= e.limit || w.batch >= e.batches {
			return false
		}
		e.started++
		w.phase, w.since = reading, e.now
		n := at(e.r.Read, w.batch) / float64(e.r.Pieces)
		w.until = e.now + e.r.Latency + n
		if e.r.OneDisk {
			e.disk = max(e.disk, e.now) + n
			w.until = max(e.disk, w.until)
		}
	case reading:
		if w.until > e.now+slack {
			return false
		}
		e.made[w.batch].reading += e.now - w.since
		w.phase, w.since = working, e.now
		w.left = at(e.r.Work, w.batch) / float64(e.r.Pieces)
	case working:
		if w.left > slack {
			return false
		}
		b := &e.made[w.batch]
		b.working += e.now - w.since
		b.pieces--
		w.phase = idle
	}
	return true
}

// hand takes the handing over of batches on, if it need not wait.
func (e *replaying) hand() bool {
	b := &e.made[e.next]
	if e.wake > e.now+slack {
		return false
	}
	switch e.stage {
	case asking:
		if b.asked < 0 {
			b.asked = e.now
		}
		if b.pieces > 0 {
			return false
		}
		b.loaded, e.stage = e.now, submitting
		if e.next >= 2 {
			e.wake = e.made[e.next-2].end
		}
	case submitting:
		e.stage, e.wake = holding, e.now+at(e.r.Hold, e.next)
	case holding:
		e.link = max(e.link, e.now) + at(e.r.Copy, e.next)
		b.copied, b.begun = e.link, e.link
		if e.next > 0 {
			b.begun = max(b.begun, e.made[e.next-1].end)
		}
		b.end = b.begun + e.r.Step
		e.stage = releasing
		if e.r.Prefetch == 0 {
			e.stage, e.wake = finishing, b.end
			return true
		}
		e.await()
	case finishing:
		e.stage = releasing
	case releasing:
		last := e.next // whose copy may go on
		if e.r.Prefetch == 0 {
			last++
		}
		if e.freed < last {
			e.freed++
			e.limit = e.freed + e.r.Prefetch + 1
			e.await()
			return true
		}
		e.stage = asking
		e.next++
	}
	return true
}

// await waits for the copy whose slot is given back next, if there is one.
func (e *replaying) await() {
	if e.freed < e.next {
		e.wake = e.made[e.freed].copied
	}
}

// advance goes on to the time of the next event.
func (e *replaying) advance() {
	if e.next >= e.batches {
		return
	}
	n := 0
	for i := range e.workers {
		if e.workers[i].phase == working {
			n++
		}
	}
	rate := min(1, e.r.Cores/float64(max(1, n+e.r.Busy)))
	to := math.Inf(1)
	if e.wake > e.now+slack {
		to = e.wake
	}
	for i := range e.workers {
		switch w := &e.workers[i]; w.phase {
		case reading:
			to = min(to, w.until)
		case working:
			to = min(to, e.now+w.left/rate)
		}
	}
	for i := range e.workers {
		w := &e.workers[i]
		switch {
		case w.phase != working:
		case e.now+w.left/rate <= to: // exactly: what rounding leaves over would never get done late in a long replay
			w.left = 0
		default:
			w.left -= (to - e.now) * rate
		}
	}
	e.now = to
}
