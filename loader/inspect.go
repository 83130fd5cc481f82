package loader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math"
	"time"

	"dlbench/loader/decode"
)

// inspected is what was found of a sample.
type inspected struct {
	info      decode.Info
	damage    string
	converted string
	err       error
	took      time.Duration
}

// inspector reads and decodes samples.
type inspector interface {
	inspect(sample int32) inspected
	close()
}

func newInspector(s *Set, o CheckOptions) (inspector, error) {
	r, err := NewReader(s, ReadOptions{Readers: o.Threads})
	if err != nil {
		return nil, err
	}
	i := &sampleInspector{set: s, reader: r}
	if s.Record == nil {
		if i.decoder, err = decode.New(o.Decoder, o.Limits); err != nil {
			r.Close()
			return nil, err
		}
	}
	i.visit = i.see
	return i, nil
}

type sampleInspector struct {
	set     *Set
	reader  *Reader
	decoder decode.Decoder // nil for records
	one     [1]int32
	found   inspected
	visit   func(int32, []byte) error
}

func (i *sampleInspector) close() {
	i.reader.Close()
	if i.decoder != nil {
		i.decoder.Close()
	}
}

func (i *sampleInspector) inspect(sample int32) inspected {
	i.found = inspected{}
	i.one[0] = sample
	if _, err := i.reader.Read(i.one[:], i.visit); err != nil {
		i.found.err = err
		if s, ok := errors.AsType[*SampleError](err); ok {
			i.found.err = errors.New(reason(s.Err)) // its path is named beside it
		}
	}
	return i.found
}

func (i *sampleInspector) see(_ int32, data []byte) (err error) {
	if i.decoder == nil {
		i.found.damage = i.set.Record.damage(data)
		return nil
	}
	if i.found.info, err = decode.Probe(data); err != nil {
		return err
	}
	img, err := i.decoder.Decode(data, &i.found.info, image.Rect(0, 0, i.found.info.Width, i.found.info.Height))
	i.found.damage, i.found.converted = img.Damage, img.Converted
	return err
}

// damage says what is wrong with the numbers of a record, "" for nothing.
func (r *Record) damage(data []byte) string {
	bad := 0
	switch r.DType {
	case "float32":
		for ; len(data) >= 4; data = data[4:] {
			if binary.LittleEndian.Uint32(data)&0x7f800000 == 0x7f800000 {
				bad++
			}
		}
	case "float16":
		for ; len(data) >= 2; data = data[2:] {
			if binary.LittleEndian.Uint16(data)&0x7c00 == 0x7c00 {
				bad++
			}
		}
	}
	if bad == 0 {
		return ""
	}
	return fmt.Sprintf("%d numbers are not finite", min(bad, math.MaxInt32))
}
