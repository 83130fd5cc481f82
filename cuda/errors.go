package cuda

import (
	"fmt"
	"slices"
)

// Code is a CUresult of the driver, for errors.Is and errors.As.
type Code int32

// Results that callers decide on.
const (
	InvalidValue       Code = 1
	OutOfMemory        Code = 2
	StubLibrary        Code = 34 // the toolkit's stub libcuda instead of the driver
	NoDevice           Code = 100
	NotReady           Code = 600
	IllegalAddress     Code = 700
	NotSupported       Code = 801
	SystemNotReady     Code = 802 // NVSwitch machines before their fabric manager runs
	DriverMismatch     Code = 803
	CompatNotSupported Code = 804 // a toolkit's compatibility libcuda on a GPU it does not support
	Unknown            Code = 999
)

// Error returns the number: the driver's own words are in CallError.
func (c Code) Error() string { return fmt.Sprintf("CUDA result %d", int32(c)) }

// sticky are results after which the context is of no more use (CUDA driver API, CUresult: "the
// process must be terminated and relaunched"): ECC, NVLink, contained, illegal address, time-out,
// destroyed, assert, traps, launch failed.
var sticky = []Code{214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721}

// CallError is a failed driver call.
type CallError struct {
	Call string // cuMemAlloc_v2
	Code Code
	Text string // the driver's name and description of Code
}

func (e *CallError) Error() string { return fmt.Sprintf("%s: %s (%d)", e.Call, e.Text, int32(e.Code)) }

// Unwrap gives Code, and ErrLost where the context is broken.
func (e *CallError) Unwrap() []error {
	if slices.Contains(sticky, e.Code) {
		return []error{e.Code, ErrLost}
	}
	return []error{e.Code}
}
