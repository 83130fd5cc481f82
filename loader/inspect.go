package loader

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"time"

	"dlbench/bench/theory"
	"dlbench/loader/decode"
)

// inspected is what was found of a sample.
type inspected struct {
	info      decode.Info
	damage    string
	converted string
	rule      *decode.Rule // by which it stops readers
	err       error        // why it is bad
	stuck     bool         // its inspection has not ended: it takes too long, or the context ended
	failed    error        // why nothing could be found of it, or of any other
	took      time.Duration
}

// inspector reads and decodes samples, one after the other.
type inspector struct {
	set     *Set
	o       CheckOptions
	reader  *Reader        // nil before the first sample
	decoder decode.Decoder // nil before the first sample, and for records
}

// limited inspects a sample, for TimeLimit at most. Then it returns while the inspection goes
// on; the inspector is closed when that ends, and is not to be used again.
func (i *inspector) limited(ctx context.Context, sample int32) (found inspected) {
	if found.failed = i.open(); found.failed != nil {
		return found
	}
	start := time.Now()
	result := make(chan inspected, 1)
	go func() { result <- i.inspect(sample) }()
	var waited time.Duration
	for left := i.o.TimeLimit; left > 0 && found.failed == nil; {
		select {
		case found = <-result:
			found.took = time.Since(start) - waited - i.waited()
			return found
		case <-time.After(left):
			left = min(i.waited(), mostWaited*i.o.TimeLimit-waited)
			waited += left
		case <-ctx.Done():
			found.failed = context.Cause(ctx)
		}
	}
	go func() {
		<-result
		i.close()
	}()
	found.err = fmt.Errorf("not read and decoded after %v", i.o.TimeLimit)
	found.stuck, found.took = true, i.o.TimeLimit
	return found
}

func (i *inspector) inspect(sample int32) (found inspected) {
	if i.o.inspect != nil {
		return i.o.inspect(sample)
	}
	if i.reader == nil {
		if i.reader, found.failed = NewReader(i.set, ReadOptions{Readers: i.o.Threads}); found.failed != nil {
			return found
		}
	}
	if size, room := i.set.Samples[sample].Len, i.o.files(); room > 0 && size > room {
		found.err = fmt.Errorf("%w: the file has %d MB, there is room for %d MB", decode.ErrMemory, size/1e6, room/1e6)
		return found
	}
	found.rule = unread // until it is
	_, err := i.reader.Read([]int32{sample}, func(_ int32, data []byte) (err error) {
		found.rule = nil
		if i.decoder == nil {
			found.damage = i.set.Record.damage(data)
			return nil
		}
		return i.look(data, &found)
	})
	if OfMachine(err) {
		found.failed = err
	} else if other, ok := errors.AsType[*decode.Unsupported](err); ok {
		found.err = other
	} else if err != nil {
		found.err = errors.New(reason(errors.Unwrap(err))) // without the place, which is named with it
	}
	return found
}

// look decodes an image.
func (i *inspector) look(data []byte, found *inspected) (err error) {
	if found.info, err = decode.Probe(data); err == nil {
		var img decode.Image
		img, err = i.decoder.Decode(data, &found.info, image.Rect(0, 0, found.info.Width, found.info.Height))
		found.damage, found.converted = img.Damage, img.Converted
	}
	found.rule = decode.Foresee(i.decoder, data, &found.info, found.damage, err)
	i.decoder.Release()
	return err
}

// open opens the decoder of what has to be decoded.
func (i *inspector) open() (err error) {
	if i.decoder == nil && i.o.inspect == nil && i.set.Record == nil {
		i.decoder, err = i.o.Memory.New(i.o.Decoder)
	}
	return err
}

// waited is how long the sample being inspected has waited for memory since it was last asked.
func (i *inspector) waited() time.Duration {
	if i.decoder == nil {
		return 0
	}
	return i.decoder.Waited()
}

func (i *inspector) close() {
	if i.reader != nil {
		i.reader.Close()
	}
	if i.decoder != nil {
		i.decoder.Close()
	}
}

// damage says what is wrong with the numbers of a record, "" for nothing.
func (r *Record) damage(data []byte) string {
	exponent := map[string]uint16{"float32": 0x7f80, "float16": 0x7c00}[r.DType] // in a number's last two bytes
	size, bad := theory.SizeOf(r.DType), 0
	for ; exponent > 0 && len(data) >= size; data = data[size:] {
		if binary.LittleEndian.Uint16(data[size-2:])&exponent == exponent {
			bad++
		}
	}
	if bad == 0 {
		return ""
	}
	return fmt.Sprintf("%d numbers are not finite", bad)
}
