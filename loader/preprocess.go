package loader

import (
	"strings"
	"time"

	"dlbench/loader/decode"
	"dlbench/loader/transform"
)

// PreprocessOptions says what samples are made into.
type PreprocessOptions struct {
	Decoder string // one of decode.Kinds; "" is decode.Auto
	Limits  decode.Limits
	Sample  transform.Options
	Seed    uint64 // of crops and flips
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

// Add adds another's.
func (s *Stages) Add(o Stages) {
	s.Decode += o.Decode
	s.Transform += o.Transform
	s.Collate += o.Collate
	s.Good += o.Good
	s.Damaged += o.Damaged
	s.Bad += o.Bad
	s.Converted += o.Converted
}

// NewPreprocessor opens the decoder and makes the tables.
func NewPreprocessor(o PreprocessOptions) (*Preprocessor, error) {
	if o.Decoder == "" {
		o.Decoder = decode.Auto
	}
	sampler, err := transform.New(o.Sample)
	if err != nil {
		return nil, err
	}
	decoder, err := decode.New(o.Decoder, o.Limits)
	if err != nil {
		return nil, err
	}
	return &Preprocessor{o: o, decoder: decoder, sampler: sampler}, nil
}

// Kind is the decoder that runs, decode.Turbo or decode.Go.
func (p *Preprocessor) Kind() string { return p.decoder.Kind() }

// Stages is what Image did so far.
func (p *Preprocessor) Stages() Stages { return p.stages }

// Close gives the decoder back.
func (p *Preprocessor) Close() error { return p.decoder.Close() }

// Image makes the sample of an image file in dst, which has exactly its size. The crop
// and the flip follow from the seed, the epoch and the sample alone. A file that is bad
// leaves zeros in dst and gives an error; one that the decoder warns of gives the
// warning as damage.
func (p *Preprocessor) Image(dst, data []byte, at Place) (damage string, err error) {
	start := time.Now()
	img, box, err := p.decode(data, at)
	decoded := time.Now()
	p.stages.Decode += decoded.Sub(start)
	if err == nil {
		err = p.sampler.Apply(dst, img, box)
		p.stages.Transform += time.Since(decoded)
	}
	if err != nil {
		clear(dst)
		p.stages.Bad++
		return "", err
	}
	if img.Converted != "" {
		p.stages.Converted++
	}
	if img.Damage != "" {
		p.stages.Damaged++
	} else {
		p.stages.Good++
	}
	return img.Damage, nil
}

// Missed stands in for Image where a file cannot be read: zeros, and a bad one more.
func (p *Preprocessor) Missed(dst []byte) {
	clear(dst)
	p.stages.Bad++
}

func (p *Preprocessor) decode(data []byte, at Place) (decode.Image, transform.Box, error) {
	var err error
	if p.info, err = decode.Probe(data); err != nil {
		return decode.Image{}, transform.Box{}, err
	}
	box := p.crop(p.info.Width, p.info.Height, at)
	img, err := p.decoder.Decode(data, &p.info, box.Rectangle)
	return img, box, err
}

// crop is what a sample shows of an image of w x h pixels.
func (p *Preprocessor) crop(w, h int, at Place) transform.Box {
	return transform.RandomResizedCrop(p.random.For(p.o.Seed, uint64(at.Epoch), at.Sample), w, h)
}

// decoderName names what a kind that was asked for comes to.
func decoderName(kind string) string {
	if _, err := decode.Library(); err != nil && kind == decode.Auto {
		kind = decode.Go
	}
	return DecoderName(kind)
}

// DecoderName names what a kind of decoder is here, for reports: "libjpeg-turbo 2.1.5".
func DecoderName(kind string) string {
	if kind == decode.Go {
		return "Go image/jpeg"
	}
	lib, err := decode.Library()
	if err != nil {
		return "none"
	}
	return strings.TrimSpace("libjpeg-turbo " + lib.Version)
}
