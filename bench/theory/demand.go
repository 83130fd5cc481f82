package theory

import (
	"fmt"
	"strings"
)

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

// Title is the demand with its rate: "ResNet-50 on A100 (920 images/s, emulated)".
func (d Demand) Title() string {
	if d.Source == mlperfStorage {
		return fmt.Sprintf("%s (%.0f images/s, emulated)", d.Name, d.Rate())
	}
	return fmt.Sprintf("%s (%.0f images/s)", d.Name, d.Rate())
}

// Demands are the figures that a loader is held against, lowest first.
var Demands = []Demand{
	{"ResNet-152", 32, 216e-3, "the article's forward and backward pass (claim A2)"},
	{"ResNet-50 on A100", 400, 0.435, mlperfStorage},
	{"ResNet-50 on H100", 400, 0.224, mlperfStorage},
}

// StepFor is the longest step, in seconds, that a loader of rate images per
// second keeps up with, for a batch of so many images.
func StepFor(rate float64, images int) float64 { return float64(images) / rate }

// GPU is how many images a second a GPU takes in as it trains a network.
type GPU struct {
	Name      string  `json:"name"`  // as --gpu has it
	Title     string  `json:"title"` // A100 80 GB
	Found     string  `json:"-"`     // what the names of such devices contain; "" where it is not the one to take for them
	Model     string  `json:"model"`
	Precision string  `json:"precision"`
	Rate      float64 `json:"rate"`             // of one
	Rate8     float64 `json:"rate_8,omitempty"` // of eight together; 0 unknown
	Source    string  `json:"source"`
	Emulated  bool    `json:"emulated,omitempty"` // a figure that another benchmark defines, no result of a training
}

const (
	nvidiaExamples = "NVIDIA DeepLearningExamples, PyTorch ResNet-50 v1.5, container 21.03, read 2026-12-01"
	mlperfStorage  = "MLPerf Storage's emulated accelerator; not a training result"
)

// GPUs are those of which a figure is published, mixed precision first.
var GPUs = []GPU{
	{"a100", "A100 80 GB", "A100", "ResNet-50", "mixed precision", 2470, 16621, nvidiaExamples, false},
	{"a100-tf32", "A100 80 GB", "", "ResNet-50", "TF32", 938, 7248, nvidiaExamples, false},
	{"v100", "V100 16 GB", "V100", "ResNet-50", "mixed precision", 1200, 8322, nvidiaExamples, false},
	{"v100-fp32", "V100 16 GB", "", "ResNet-50", "FP32", 367, 2855, nvidiaExamples, false},
	{"a100-mlperf", "A100", "", "ResNet-50", "emulated", Demands[1].Rate(), 0, mlperfStorage, true},
	{"h100-mlperf", "H100", "", "ResNet-50", "emulated", Demands[2].Rate(), 0, mlperfStorage, true},
	{"article", "the article's GPU", "", "ResNet-152", "FP32", Demands[0].Rate(), 0,
		"Dettmers, A Full Hardware Guide to Deep Learning: 216 ms for 32 images", false},
}

// GPUNamed is the GPU of a name, whatever its case.
func GPUNamed(name string) (GPU, bool) {
	for _, g := range GPUs {
		if strings.EqualFold(g.Name, name) {
			return g, true
		}
	}
	return GPU{}, false
}

// GPUFound is the GPU that a device's name says it is.
func GPUFound(device string) (GPU, bool) {
	for _, g := range GPUs {
		if g.Found != "" && strings.Contains(strings.ToUpper(device), g.Found) {
			return g, true
		}
	}
	return GPU{}, false
}

// Text is "ResNet-50, A100 80 GB, mixed precision".
func (g GPU) Text() string { return g.Model + ", " + g.Title + ", " + g.Precision }

// RateOf is what so many of them take in together: as published for eight, else so many
// times that of one.
func (g GPU) RateOf(n int) float64 {
	if n == 8 && g.Rate8 > 0 {
		return g.Rate8
	}
	return float64(n) * g.Rate
}

// DemandsMet says for which demands a rate between lo and hi images/s is enough:
// "enough for ResNet-152 (148 images/s), perhaps enough for ...".
func DemandsMet(lo, hi float64) string {
	var texts []string
	for _, d := range Demands {
		enough := "perhaps enough for "
		switch {
		case lo > d.Rate():
			enough = "enough for "
		case hi < d.Rate():
			enough = "not enough for "
		}
		texts = append(texts, enough+d.Title())
	}
	return strings.Join(texts, ", ")
}
