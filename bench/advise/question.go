package advise

import (
	"fmt"
	"strings"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

// Question is what the user wants fed. What is zero was not said.
type Question struct {
	Need float64       // images/s of one GPU
	Step time.Duration // that a GPU works on a batch
	GPU  string        // one of theory.GPUs
	GPUs int           // that train together; 0: those that are found, or one
}

// Rate is the images/s that the user said are needed, 0 for nothing said.
func (q Question) Rate(images int) float64 {
	if q.Need == 0 && q.Step == 0 && q.GPU == "" {
		return 0
	}
	rep := &results.Report{Config: results.Config{Batch: images}}
	return q.need(rep).rate
}

// need is how many images a second are needed, and for what.
type need struct {
	rate float64 // images/s of all GPUs together; 0 where it is not known
	from string  // what needs them, and whose figure that is
	gpus int
	why  string // why the rate is not known
}

// need is what the user said; else what a training script measured of itself; else what
// the GPUs that are found take in by published figures.
func (q Question) need(rep *results.Report) need {
	gpus := max(1, q.GPUs)
	each := ""
	if gpus > 1 {
		each = fmt.Sprintf("%d GPUs, each ", gpus)
	}
	if g, ok := theory.GPUNamed(q.GPU); ok {
		return published(g, gpus)
	}
	switch {
	case q.Need > 0:
		from := "your GPU (--need)"
		if gpus > 1 {
			from = fmt.Sprintf("%d GPUs, each %.4g images/s (--need)", gpus, q.Need)
		}
		return need{float64(gpus) * q.Need, from, gpus, ""}
	case q.Step > 0:
		images := rep.Config.Batch
		from := each + fmt.Sprintf("a step of %v for %d images", q.Step, images)
		return need{float64(gpus*images) / q.Step.Seconds(), from, gpus, ""}
	}
	if r := results.WrapOf(rep.Results); r != nil {
		return need{results.MedianOf(r, "need"), "your training script, as it measured", 1,
			"the steps of your training take no time of their own"}
	}
	var found []string
	for _, g := range rep.Host.GPUs {
		if g.Name != "" {
			found = append(found, g.Name)
		}
	}
	if len(found) == 0 {
		return need{gpus: gpus, why: "no GPU is found here, and none was named"}
	}
	if q.GPUs == 0 {
		gpus = len(found)
	}
	if g, ok := theory.GPUFound(found[0]); ok {
		return published(g, gpus)
	}
	why := "no figure for " + found[0] + " is published: measure what it needs (dlbench help loaders)"
	return need{gpus: gpus, why: why}
}

// published is the need of so many GPUs by a published figure.
func published(g theory.GPU, gpus int) need {
	from := g.Text()
	if gpus > 1 {
		from = fmt.Sprintf("%d x %s", gpus, from)
	}
	source, _, _ := strings.Cut(g.Source, " ")
	return need{g.RateOf(gpus), from + " (" + strings.Trim(source, ",") + ")", gpus, ""}
}

// each is what one of the GPUs needs, 0 where that is not known.
func (n need) each() float64 { return n.rate / float64(max(1, n.gpus)) }

// answer fills in what a loader that feeds x means for the need.
func (n need) answer(v *results.Verdict, x results.Interval) {
	v.Feeds, v.FeedsLo, v.FeedsHi = results.Finite(x.Value), results.Finite(x.Lo), results.Finite(x.Hi)
	if n.rate == 0 {
		v.Answer, v.NeedsFrom = results.AnswerNone, n.why
		return
	}
	v.Needs, v.NeedsFrom, v.GPUs = results.Finite(n.rate), n.from, n.gpus
	v.GPUBusy = results.Finite(min(1, x.Value/n.rate))
	v.Answer = results.Enough(x.Lo, x.Hi, n.rate)
	if v.Answer != results.AnswerYes && v.Answer != results.AnswerNo {
		v.Answer = results.AnswerClose
		v.Why = fmt.Sprintf("%.0f to %.0f images/s were fed: more runs (--repeat) tell more", x.Lo, x.Hi)
	}
}
