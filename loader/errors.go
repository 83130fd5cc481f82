package loader

import (
	"errors"
	"fmt"
)

// Errors that callers decide on.
var (
	// ErrTruncated says that a file ends before a sample does that was there when
	// the set was opened.
	ErrTruncated = errors.New("the file is shorter than when the set was opened")
	// ErrNoDirect says that a file system or a device does not do direct I/O.
	ErrNoDirect = errors.New("direct I/O is not possible")
	// ErrTooManyOpen says that the process may open no more files.
	ErrTooManyOpen = errors.New("too many open files")
)

// SampleError is why a sample could not be had.
type SampleError struct {
	Sample int32 // index into Set.Samples
	Path   string
	Offset int64 // in the file, of the sample or of the place where reading failed
	Err    error
}

func (e *SampleError) Error() string {
	if e.Offset == 0 {
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("%s at %d: %v", e.Path, e.Offset, e.Err)
}

func (e *SampleError) Unwrap() error { return e.Err }
