//go:build !amd64

package transform

// Without kernels the reference does all.
const (
	haveKernels = false
	kernelWidth = 8
)

func (r *Resampler) widen(int)                           {}
func (r *Resampler) horizontalKernel([]float32, []byte)  {}
func (r *Resampler) combineKernel()                      {}
func (r *Resampler) combineInto(segment []byte, at int)  {}
func (r *Resampler) putKernel(dst []byte, sum []float32) {}
