package synth

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"path"
	"runtime"
	"strings"

	"dlbench/loader"
)

// mostPixels bounds an image that is decoded: a header of a few bytes may claim
// more than fits in memory.
const mostPixels = 1 << 27

// reading is the work of reading samples of a set and, for tensors, of decoding.
type reading struct {
	src     *loader.Set
	reader  *loader.Reader
	tensors *tensors
}

func newReading(src *loader.Set, record *loader.Record) (work, error) {
	reader, err := loader.NewReader(src, loader.ReadOptions{Readers: runtime.GOMAXPROCS(0)})
	if err != nil {
		return nil, err
	}
	r := &reading{src: src, reader: reader}
	if record != nil {
		r.tensors = newTensors(*record)
	}
	return r, nil
}

func (r *reading) close() { r.reader.Close() }

func (r *reading) make(s *sample) error {
	from := r.src.Samples[s.index]
	name := r.src.Files[from.File].Path
	s.label = int(from.Label)
	_, err := r.reader.Read([]int32{int32(s.index)}, func(_ int32, data []byte) error {
		if r.tensors != nil {
			return r.decode(s, data)
		}
		if s.ext = extension(data); s.ext == "" && r.src.Store == loader.Files {
			s.ext = strings.ToLower(path.Ext(name))
		}
		if s.ext == "" {
			return errors.New("unknown format")
		}
		s.image = append(s.image[:0], data...)
		s.imageDigest = sha256.Sum256(s.image)
		return nil
	})
	if errors.Is(err, loader.ErrTooManyOpen) {
		return err
	}
	if err != nil {
		if e, ok := errors.AsType[*loader.SampleError](err); ok {
			err = e.Err
		}
		s.skipped = &loader.Skipped{Path: name, Offset: from.Off, Reason: err.Error()}
	}
	return nil
}

// decode makes a tensor of an image file.
func (r *reading) decode(s *sample, data []byte) error {
	img, err := decode(data)
	if err != nil {
		return err
	}
	s.tensor = r.tensors.append(s.tensor[:0], img)
	s.tensorDigest = sha256.Sum256(s.tensor)
	return nil
}

func decode(data []byte) (image.Image, error) {
	var config func([]byte) (image.Config, error)
	var whole func([]byte) (image.Image, error)
	switch ext := extension(data); ext {
	case ".jpg":
		config = func(b []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(b)) }
		whole = func(b []byte) (image.Image, error) { return jpeg.Decode(bytes.NewReader(b)) }
	case ".png":
		config = func(b []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(b)) }
		whole = func(b []byte) (image.Image, error) { return png.Decode(bytes.NewReader(b)) }
	case "":
		return nil, errors.New("unknown format")
	default:
		return nil, fmt.Errorf("%s is not decoded here, only JPEG and PNG", ext[1:])
	}
	c, err := config(data)
	if err != nil {
		return nil, err
	}
	if c.Width < 1 || c.Height < 1 || c.Width > mostPixels/c.Height {
		return nil, fmt.Errorf("%d x %d pixels", c.Width, c.Height)
	}
	return whole(data)
}

// extension tells the format of a file by how it begins, "" if it is none of those
// that image sets have.
func extension(data []byte) string {
	for _, f := range []struct{ start, ext string }{
		{"\xff\xd8", ".jpg"}, {"\x89PNG\r\n\x1a\n", ".png"}, {"BM", ".bmp"},
		{"II*\x00", ".tif"}, {"MM\x00*", ".tif"}, {"P5", ".pgm"}, {"P6", ".ppm"},
	} {
		if bytes.HasPrefix(data, []byte(f.start)) {
			return f.ext
		}
	}
	if len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		return ".webp"
	}
	return ""
}
