//go:build !amd64

package transform

// Without kernels the reference does all.
const (
	haveKernels = false
	kernelWidth = 8
)

type wide struct{}

func (r *Resampler) widen()                             {}
func (r *Resampler) horizontalKernel([]float32, []byte) {}
func (r *Resampler) combineKernel()                     {}
func (r *Resampler) combineInto([]byte, int)            {}
func (r *Resampler) putKernel([]byte, []float32)        {}
