package synth

import (
	"errors"
	"fmt"

	"dlbench/loader"
)

// take adds a sample. What is not in a whole record is not counted.
func (t *target) take(s *sample) error {
	size, digest := len(s.image), s.imageDigest
	if t.record != nil {
		size, digest = len(s.tensor), s.tensorDigest
	}
	t.waiting = append(t.waiting, digest)
	if t.record == nil || len(t.waiting) == t.record.Images {
		t.info.Images += len(t.waiting)
		t.info.Bytes += int64(size * len(t.waiting))
		for _, d := range t.waiting {
			t.print.add(d)
		}
		t.waiting = t.waiting[:0]
	}
	return t.add(s)
}

// finish completes the files and says what they are.
func (t *target) finish() error {
	t.info.LeftOver = len(t.waiting)
	if t.info.Images == 0 {
		return fmt.Errorf("%s: %w to write", t.dir, loader.ErrNoSamples)
	}
	if err := t.close(); err != nil {
		return err
	}
	var err error
	if t.info.Files, t.info.DiskBytes, err = usage(t.temp); err != nil {
		return err
	}
	if t.packed != nil {
		t.info.Packed = t.packed()
	}
	t.info.Fingerprint = t.print.String()
	return t.info.write(t.temp)
}

// discard removes what was not committed.
func (b *build) discard() error {
	var errs []error
	for _, t := range b.targets {
		if t.sink != nil {
			t.abort()
		}
		errs = append(errs, t.stage.discard())
	}
	return errors.Join(errs...)
}
