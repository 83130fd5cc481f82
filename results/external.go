package results

import "slices"

// ExternalParams is the parameters of a case of the external suite: a loader of the user's
// own, or dlbench's, in a process of its own.
type ExternalParams struct {
	Loader  string   `json:"loader"`
	Workers int      `json:"workers"`
	Step    Duration `json:"step"` // that a batch is worked on; 0 where nothing waits
}

// ExternalProof is the evidence of a case of the external suite.
type ExternalProof struct {
	Title     string            `json:"title,omitempty"` // what the loader says it is
	Command   string            `json:"command,omitempty"`
	Python    string            `json:"python,omitempty"`
	Software  map[string]string `json:"software,omitempty"` // versions, by package
	Pixels    *PixelDifference  `json:"pixels,omitempty"`
	Batch     int               `json:"batch"` // images in the largest batch that came
	Batches   int               `json:"batches"`
	Epochs    int               `json:"epochs"`    // that ended
	Processes int               `json:"processes"` // most at once
	Log       string            `json:"log,omitempty"`

	// Bytes that the processes read by system calls, and those of them that came from a
	// device; absent where the system does not say.
	BytesRead  *int64 `json:"bytes_read,omitempty"`
	FromDevice *int64 `json:"bytes_from_device,omitempty"`
}

// PixelDifference is how far the pixels of a fixed crop are from those of another decoder,
// in levels of 256.
type PixelDifference struct {
	Mean    float64 `json:"mean"`
	Max     float64 `json:"max"`
	Against string  `json:"against"` // Pillow and its version
}

// WrapLoader and ProbeLoader are the names of the cases that dlbench.py measures inside a
// training script.
const WrapLoader, ProbeLoader = "wrap", "probe"

// ScriptLoader is the loader of a verdict about a training script that measured itself. What such a
// script reached is not what its loader feeds: the loader may have waited for the GPU.
const ScriptLoader = "your training script"

// PythonTool is the name of dlbench.py among tools.
const PythonTool = "dlbench.py"

// OwnLoader is the name of dlbench's own loader among others.
const OwnLoader = "dlbench"

// UserLoaders are the names of the loaders in the results of the external suite but
// dlbench's own, and what a training script measured of itself, in order.
func UserLoaders(rs []Result) (names []string) {
	for _, r := range Cases(rs, "external", func(ExternalParams) bool { return true }) {
		name := As[ExternalParams](r.Params).Loader
		if !slices.Contains([]string{OwnLoader, WrapLoader, ProbeLoader}, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// ScalingOf is the cases of the loader of a name in which nothing waits, by workers.
func ScalingOf(rs []Result, name string) *ScalingLine {
	return newScalingLine(Cases(rs, "external", func(p ExternalParams) bool { return p.Loader == name && p.Step == 0 }))
}

// WorkersOf is the threads or the workers of a case, whichever its suite has.
func WorkersOf(r *Result) int {
	p := As[struct{ Threads, Workers int }](r.Params)
	return max(p.Threads, p.Workers)
}

// WrapOf is what a training script measured of itself, nil for none.
func WrapOf(rs []Result) *Result {
	return CaseOf(rs, "external", func(p ExternalParams) bool { return p.Loader == WrapLoader })
}
