package bench

import (
	"fmt"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

// Step is what a training step asks for.
type Step struct {
	Time  time.Duration // that the GPU works on a batch
	CPU   int           // threads that the step keeps busy meanwhile
	Given bool          // Time was named by the user; otherwise it is the article's
	Set   bool          // CPU was named
}

// DefaultStep is the article's: ResNet-152 forward and backward of 32 images (claim
// A2), by a script whose launching thread keeps one core busy.
var DefaultStep = Step{Time: time.Duration(theory.Demands[0].Step * 1e9), CPU: 1}

// orDefault is s, or the default step where nothing was given.
func (s Step) orDefault() Step {
	if !s.Given {
		s.Time = DefaultStep.Time
	}
	if !s.Set {
		s.CPU = DefaultStep.CPU
	}
	return s
}

// MostStep bounds a step.
const MostStep = time.Hour

// Check says what is wrong with a step.
func (s Step) Check() error {
	if s.Time < 0 || s.Time > MostStep {
		return &UsageError{"--step", s.Time.String(), fmt.Sprintf("want a time from 0 to %v", MostStep)}
	}
	if s.CPU < 0 || s.CPU > results.MostThreads {
		return &UsageError{"--step-cpu", fmt.Sprint(s.CPU), fmt.Sprintf("want from 0 to %d threads", results.MostThreads)}
	}
	return nil
}
