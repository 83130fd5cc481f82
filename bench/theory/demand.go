package theory

// Demand is how many images a GPU takes in: a step of Step seconds for Batch
// images.
type Demand struct {
	Name   string
	Batch  int
	Step   float64
	Source string
}

// Rate is the demand in images per second.
func (d Demand) Rate() float64 { return float64(d.Batch) / d.Step }

// Demands are the figures that a loader is held against, lowest first.
var Demands = []Demand{
	{"ResNet-152", 32, 216e-3, "the article's forward and backward pass (claim A2)"},
	{"ResNet-50 on A100", 400, 0.435, "MLPerf Storage's emulated accelerator; not a training result"},
	{"ResNet-50 on H100", 400, 0.224, "MLPerf Storage's emulated accelerator; not a training result"},
}

// StepFor is the longest step, in seconds, that a loader of rate images per
// second keeps up with, for a batch of so many images.
func StepFor(rate float64, images int) float64 { return float64(images) / rate }

// GPU is an accelerator by what a network takes in on it.
type GPU struct {
	Name string // as --gpu has it
	Demand
}

// GPUs are those whose demand is known, from Demands.
var GPUs = []GPU{
	{"article", Demands[0]},
	{"a100", Demands[1]},
	{"h100", Demands[2]},
}
