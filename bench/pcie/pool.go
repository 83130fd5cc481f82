package pcie

import (
	"errors"

	"dlbench/bench"
	"dlbench/cuda"
)

// pool is the buffers that the cases of one device share: one of each kind, as
// large as the largest copy, so that memory does not grow with the number of
// cases. All calls come with the device bound.
type pool struct {
	device  cuda.Device
	seed    uint64
	largest int64 // B
	open    int   // cases
	buffers map[bufferKey]*cuda.Buffer
}

type bufferKey struct {
	kind cuda.Kind
	no   int // for a second buffer of a kind
}

// remoteBuffers are numbered from here: they lie on another NUMA node than the device,
// and the buffers of other purposes have the numbers below.
const remoteBuffers = 3

// get returns the first size bytes of a buffer. Host memory is filled with random
// bytes and so touched: what zeros would do to compression on the way, or to
// pages that were never written, is no measurement.
func (p *pool) get(k cuda.Kind, no int, size int64) (*cuda.Buffer, error) {
	key := bufferKey{k, no}
	b := p.buffers[key]
	if b == nil {
		var err error
		if b, err = p.device.Alloc(k, int(max(p.largest, size))); err != nil {
			return nil, err
		}
		bench.Randomize(b.Host, p.seed+uint64(no))
		if p.buffers == nil {
			p.buffers = map[bufferKey]*cuda.Buffer{}
		}
		p.buffers[key] = b
	}
	return b.View(int(size)), nil
}

// release frees the buffers when the last open case is closed.
func (p *pool) release() error {
	if p.open--; p.open > 0 {
		return nil
	}
	var errs []error
	for k, b := range p.buffers {
		errs = append(errs, b.Free())
		delete(p.buffers, k)
	}
	return errors.Join(errs...)
}
