package theory

import (
	"fmt"
	"strings"
)

// Demand is how many images a GPU takes in: a step of Step seconds for Batch
// images.
type Demand struct {
	Name   string
	GPU    string // as --gpu has it
	Batch  int
	Step   float64
	Source string
}

// Rate is the demand in images per second.
func (d Demand) Rate() float64 { return float64(d.Batch) / d.Step }

// Demands are the figures that a loader is held against, lowest first.
var Demands = []Demand{
	{"ResNet-152", "article", 32, 216e-3, "the article's forward and backward pass (claim A2)"},
	{"ResNet-50 on A100", "a100", 400, 0.435, "MLPerf Storage's emulated accelerator; not a training result"},
	{"ResNet-50 on H100", "h100", 400, 0.224, "MLPerf Storage's emulated accelerator; not a training result"},
}

// DemandsMet names, behind enough, the demands that a rate between lo and hi images/s meets,
// and behind not the others, with their rates.
func DemandsMet(lo, hi float64, enough, not string) (text string) {
	var met, missed []string
	for _, d := range Demands {
		name := fmt.Sprintf("%s (%.0f)", d.Name, d.Rate())
		switch {
		case lo > d.Rate():
			met = append(met, name)
		case hi < d.Rate():
			missed = append(missed, name)
		default:
			missed = append(missed, name+" perhaps")
		}
	}
	if len(met) > 0 {
		text += enough + strings.Join(met, ", ")
	}
	if len(missed) > 0 {
		text += not + strings.Join(missed, ", ")
	}
	return text
}
