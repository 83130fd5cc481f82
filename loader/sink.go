package loader

import "time"

// Sink is where a pipeline's batches go: memory for them and, behind it, a device that
// copies each and works on it. All calls come from one goroutine, but Slots' memory is
// written by the pipeline's readers.
type Sink interface {
	// Slots are the memory of batches. Batch b lies in slot b modulo their number.
	Slots() [][]byte
	// Submit queues the copy of the batch in a slot and, behind it, the step. It waits
	// only where the device's own queue of batches is full.
	Submit(slot int) error
	// Copied waits until what was submitted from a slot was copied, so that the slot
	// may be written anew.
	Copied(slot int) error
	// Done waits until everything that was submitted is done.
	Done() error
}

// Times is when things happened to a batch, since the pipeline was made. Of the device
// the sink knows more.
type Times struct {
	Asked     time.Duration // the consumer was ready for the batch
	Loaded    time.Duration // it was there
	Submitted time.Duration // the sink has taken it
}
