package loader

import (
	"cmp"
	"fmt"
	"image"
	"strings"
	"time"

	"dlbench/loader/decode"
	"dlbench/loader/transform"
)

// PreprocessOptions says what samples are made into.
type PreprocessOptions struct {
	Decoder string // one of decode.Kinds; "" is decode.Auto
	Sample  transform.Options
	Seed    uint64 // of crops and flips

	Memory *decode.Memory // that all decoding shares; nil for no bound
}

// Preprocessor makes training samples of image files. It is for one goroutine, on a
// locked OS thread; steady work on JPEG files by libjpeg-turbo allocates nothing.
type Preprocessor struct {
	o       PreprocessOptions
	decoder decode.Decoder
	sampler *transform.Resampler
	random  transform.Random
	stages  Stages
	info    decode.Info // here, since one on the stack would move to the heap for each image
	pixels  []byte      // of a stored image, four bytes each
}

// Stages is where the time of a Preprocessor went, and what became of its images.
type Stages struct {
	Decode, Transform time.Duration
	Collate           time.Duration // copying prepared records into the batch
	Good              int
	Damaged           int // decoded with a decoder's warning
	Bad               int // no image could be made: zeros stand in the batch
	Converted         int // from grey, CMYK, a palette, 16 bits or with transparency
}

func (s *Stages) Add(o Stages) {
	s.Decode += o.Decode
	s.Transform += o.Transform
	s.Collate += o.Collate
	s.Good += o.Good
	s.Damaged += o.Damaged
	s.Bad += o.Bad
	s.Converted += o.Converted
}

func NewPreprocessor(o PreprocessOptions) (*Preprocessor, error) {
	o.Decoder = cmp.Or(o.Decoder, decode.Auto)
	sampler, err := transform.New(o.Sample)
	if err != nil {
		return nil, err
	}
	decoder, err := o.Memory.New(o.Decoder)
	if err != nil {
		return nil, err
	}
	return &Preprocessor{o: o, decoder: decoder, sampler: sampler}, nil
}

// Kind is the decoder that runs, decode.Turbo or decode.Go.
func (p *Preprocessor) Kind() string { return p.decoder.Kind() }

// Stages is what Image did so far.
func (p *Preprocessor) Stages() Stages { return p.stages }

func (p *Preprocessor) Close() error { return p.decoder.Close() }

// Image makes the sample of an image file in dst, which has exactly its size. The crop
// and the flip follow from the seed, the epoch and the sample alone. A file that is bad
// leaves zeros in dst and gives an error; one that the decoder warns of gives the
// warning as damage.
func (p *Preprocessor) Image(dst, data []byte, at Place) (damage string, err error) {
	start := time.Now()
	img, box, err := p.decode(data, at)
	p.stages.Decode += time.Since(start)
	if err != nil {
		p.Missed(dst)
	} else {
		err = p.apply(dst, img, box)
	}
	p.decoder.Release()
	return img.Damage, err
}

// apply makes the sample of decoded pixels.
func (p *Preprocessor) apply(dst []byte, img decode.Image, box transform.Box) error {
	start := time.Now()
	err := p.sampler.Apply(dst, img, box)
	p.stages.Transform += time.Since(start)
	switch {
	case err != nil:
		p.Missed(dst)
		return err
	case img.Damage != "":
		p.stages.Damaged++
	default:
		p.stages.Good++
	}
	if img.Converted != "" {
		p.stages.Converted++
	}
	return nil
}

// Missed stands in for Image where a file cannot be read: zeros, and a bad one more.
func (p *Preprocessor) Missed(dst []byte) {
	clear(dst)
	p.stages.Bad++
}

func (p *Preprocessor) decode(data []byte, at Place) (img decode.Image, box transform.Box, err error) {
	if p.info, err = decode.Probe(data); err != nil {
		return img, box, err
	}
	box = p.crop(p.info.Width, p.info.Height, at)
	img, err = p.decoder.Decode(data, &p.info, box.Rectangle)
	return img, box, err
}

func (p *Preprocessor) crop(w, h int, at Place) transform.Box {
	return transform.RandomResizedCrop(p.random.For(p.o.Seed, uint64(at.Epoch), at.Sample), w, h)
}

// DecoderName names what a kind of decoder is here, for reports: "libjpeg-turbo 2.1.5".
func DecoderName(kind string) string {
	lib, err := decode.Library()
	switch {
	case kind == decode.Go, kind == decode.Auto && err != nil:
		return "Go image/jpeg"
	case err != nil:
		return "none"
	}
	return strings.TrimSpace("libjpeg-turbo " + lib.Version)
}

// storedPixels is the least side of stored uint8 images of which random crops are
// still taken: what was 256 pixels is reduced to 224 or so, as in training from files.
const storedPixels = 256

// Crops says whether a store of records still has the pixels for random crops. Other
// records are samples as they are: each epoch sees the same crop, which is not the
// same training.
func Crops(r *Record) bool {
	return r.DType == "uint8" && r.Layout == "nhwc" && min(r.Height, r.Width) >= storedPixels
}

// CanPrepare says why samples cannot be made of a store's records, "" if they can.
func CanPrepare(r *Record, o transform.Options) string {
	switch {
	case r == nil:
		return "no store of records"
	case r.Channels != 3:
		return fmt.Sprintf("the store has %d channels, not 3", r.Channels)
	case Crops(r):
		return ""
	case r.Height != o.Height || r.Width != o.Width || r.DType != o.DType || r.Layout != o.Layout:
		return fmt.Sprintf("the store holds %dx%d %s %s, not %dx%d %s %s: dlbench dataset pack makes another",
			r.Height, r.Width, r.DType, r.Layout, o.Height, o.Width, o.DType, o.Layout)
	}
	return ""
}

// Record makes the sample of a record in dst: a copy of what was prepared, or a random
// crop of stored pixels.
func (p *Preprocessor) Record(dst, data []byte, r *Record, at Place) error {
	start := time.Now()
	if !Crops(r) {
		if len(dst) != len(data) {
			return fmt.Errorf("a record of %d bytes for a sample of %d", len(data), len(dst))
		}
		copy(dst, data)
		p.stages.Collate += time.Since(start)
		p.stages.Good++
		return nil
	}
	if n := 4*r.Height*r.Width + decode.Padding; cap(p.pixels) < n {
		p.pixels = make([]byte, n)
	}
	pix := p.pixels[:4*r.Height*r.Width]
	for i, j := 0, 0; i+3 <= len(data) && j+4 <= len(pix); i, j = i+3, j+4 {
		pix[j], pix[j+1], pix[j+2] = data[i], data[i+1], data[i+2]
	}
	p.stages.Decode += time.Since(start)
	src := decode.Image{Pix: pix, Stride: 4 * r.Width, Window: image.Rect(0, 0, r.Width, r.Height)}
	return p.apply(dst, src, p.crop(r.Width, r.Height, at))
}
