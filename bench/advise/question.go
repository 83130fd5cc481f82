package advise

import (
	"cmp"
	"fmt"
	"slices"
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
	return q.need(&results.Report{Config: results.Config{Batch: images}}).rate
}

// need is how many images a second are needed, and for what.
type need struct {
	rate float64 // images/s of all GPUs together; 0 where it is not known
	from string  // what needs them, and whose figure that is; or why it is not known
	gpus int
}

// need is what the user said; else what a training script measured of itself; else what
// the GPUs that are found take in by published figures.
func (q Question) need(rep *results.Report) need {
	gpus, images := max(1, q.GPUs), rep.Config.Batch
	g, named := theory.GPUNamed(q.GPU)
	script := results.WrapOf(rep.Results)
	switch {
	case named:
		return needOf(gpus, published(g), g.RateOf(gpus))
	case q.Need > 0:
		return needOf(gpus, "your GPU (--need)", float64(gpus)*q.Need)
	case q.Step > 0:
		return needOf(gpus, fmt.Sprintf("a step of %v for %d images", q.Step, images),
			float64(gpus*images)/q.Step.Seconds())
	case results.MedianOf(script, "need") > 0:
		return needOf(1, "your training script, as it measured", results.MedianOf(script, "need"))
	case script != nil:
		return need{gpus: 1, from: "the steps of your training take no time of their own"}
	}
	found := slices.DeleteFunc(slices.Clone(rep.Host.GPUs), func(g results.GPU) bool { return g.Name == "" })
	if len(found) == 0 {
		return need{gpus: gpus, from: "no GPU is found here, and none was named"}
	}
	if q.GPUs == 0 {
		gpus = len(found)
	}
	if g, ok := theory.GPUFound(found[0].Name); ok {
		return needOf(gpus, published(g), g.RateOf(gpus))
	}
	return need{gpus: gpus, from: "no figure for " + found[0].Name +
		" is published: measure what it needs (dlbench help loaders)"}
}

// needAgain is need, where q says nothing that of the run itself, for as many GPUs as q says.
func (q Question) needAgain(rep *results.Report) need {
	v := rep.Verdict
	if v == nil || q.Need > 0 || q.Step > 0 || q.GPU != "" {
		return q.need(rep)
	}
	if q.GPUs == 0 && v.Share != nil {
		q.GPUs = v.Share.GPUs
	}
	if v.Needs == nil || v.GPUs < 1 {
		return q.need(rep)
	}
	one := strings.TrimPrefix(v.NeedsFrom, fmt.Sprintf("%d x ", v.GPUs))
	gpus := cmp.Or(q.GPUs, v.GPUs)
	for _, g := range theory.GPUs {
		if published(g) == one {
			return needOf(gpus, one, g.RateOf(gpus))
		}
	}
	return needOf(gpus, one, *v.Needs/float64(v.GPUs)*float64(gpus))
}

// needOf is the need of so many GPUs, each of which is that one, with a rate of all together.
func needOf(gpus int, one string, rate float64) need {
	if gpus > 1 {
		one = fmt.Sprintf("%d x %s", gpus, one)
	}
	return need{rate, one, gpus}
}

// published is a GPU with the beginning of its figure's source: "ResNet-50, V100 16 GB, FP32 (NVIDIA)".
func published(g theory.GPU) string {
	source, _, _ := strings.Cut(g.Source, " ")
	return g.Text() + " (" + strings.Trim(source, ",") + ")"
}

// each is what one of the GPUs needs, 0 where that is not known.
func (n need) each() float64 { return n.rate / float64(n.gpus) }

// answer fills in what a loader that feeds x means for the need.
func (n need) answer(v *results.Verdict, x results.Interval) {
	v.Feeds, v.FeedsLo, v.FeedsHi = results.Finite(x.Value), results.Finite(x.Lo), results.Finite(x.Hi)
	v.Answer, v.NeedsFrom = results.AnswerNone, n.from
	if n.rate == 0 {
		return
	}
	v.Needs, v.GPUs = results.Finite(n.rate), n.gpus
	v.GPUBusy = results.Finite(min(1, x.Value/n.rate))
	v.Answer = results.Enough(x.Lo, x.Hi, n.rate)
	if v.Answer == "perhaps" {
		v.Answer = results.AnswerClose
		v.Why = fmt.Sprintf("%.0f to %.0f images/s were fed: more runs (--repeat) tell more", x.Lo, x.Hi)
	}
}
