package decode

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// blocks describes a JPEG in which each block of 8 x 8 samples has one value: enough for
// each kind of header, and exact in each decoder.
type blocks struct {
	process       byte // marker of the frame header; 0 is baseline
	precision     byte // 0 is 8
	width, height int
	ids           string // of the components; "" is 1, 2, 3 ...
	sampling      []byte // of each component, horizontal << 4 | vertical
	jfif          bool
	adobe         int  // transform + 1; 0 is without the segment
	exif          int  // orientation; 0 is without
	separate      bool // a scan for each component
	value         func(component, x, y int) byte
}

func (b blocks) build() []byte {
	out := []byte{0xff, soi}
	segment := func(marker byte, s ...byte) {
		out = append(out, 0xff, marker)
		out = binary.BigEndian.AppendUint16(out, uint16(len(s)+2))
		out = append(out, s...)
	}
	if b.jfif {
		segment(app0, []byte("JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00")...)
	}
	if b.exif != 0 {
		segment(app1, append([]byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"),
			byte(b.exif), 0, 0)...)
	}
	if b.adobe != 0 {
		segment(app14, append([]byte("Adobe\x00\x64\x00\x00\x00\x00"), byte(b.adobe-1))...)
	}
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{8}, 64)...)...)
	process, precision := b.process, b.precision
	if process == 0 {
		process = sof0
	}
	if precision == 0 {
		precision = 8
	}
	frame := []byte{precision, byte(b.height >> 8), byte(b.height), byte(b.width >> 8), byte(b.width),
		byte(len(b.sampling))}
	scans := [][]byte{nil} // of each, its components
	for i, s := range b.sampling {
		id := byte(i + 1)
		if b.ids != "" {
			id = b.ids[i]
		}
		frame = append(frame, id, s, 0)
		if b.separate && i > 0 {
			scans = append(scans, nil)
		}
		scans[len(scans)-1] = append(scans[len(scans)-1], id, 0)
	}
	segment(process, frame...)
	// Twelve codes of four bits for the size of a difference, one of one bit: end of block.
	segment(dht, append([]byte{0x00, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
		11)...)
	segment(dht, append([]byte{0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0)...)
	end := byte(63)
	if process == 0xc2 {
		end = 0
	}
	first := 0
	for _, scan := range scans {
		n := len(scan) / 2
		segment(sos, slices.Concat([]byte{byte(n)}, scan, []byte{0, end, 0})...)
		out = append(out, b.entropy(first, n, process == 0xc2)...)
		first += n
	}
	return append(out, 0xff, eoi)
}

// entropy is the coded differences from block to block of n components from first.
func (b blocks) entropy(first, n int, dcOnly bool) []byte {
	var w bitWriter
	hMax, vMax := 1, 1
	for _, s := range b.sampling {
		hMax, vMax = max(hMax, int(s>>4)), max(vMax, int(s&15))
	}
	across, down := (b.width+8*hMax-1)/(8*hMax), (b.height+8*vMax-1)/(8*vMax)
	if n == 1 { // in the order of its blocks, without those that fill up an MCU
		s := b.sampling[first]
		across = ((b.width*int(s>>4)+hMax-1)/hMax + 7) / 8
		down = ((b.height*int(s&15)+vMax-1)/vMax + 7) / 8
	}
	last := make([]int, len(b.sampling))
	for my := range down {
		for mx := range across {
			for c := first; c < first+n; c++ {
				h, v := int(b.sampling[c]>>4), int(b.sampling[c]&15)
				if n == 1 {
					h, v = 1, 1
				}
				for y := range v {
					for x := range h {
						now := int(b.value(c, mx*h+x, my*v+y)) - 128
						w.difference(now - last[c])
						if last[c] = now; !dcOnly {
							w.write(0, 1)
						}
					}
				}
			}
		}
	}
	return w.flush()
}

type bitWriter struct {
	out  []byte
	acc  uint32
	bits int
}

func (w *bitWriter) write(v uint32, n int) {
	for i := n - 1; i >= 0; i-- {
		w.acc = w.acc<<1 | v>>i&1
		if w.bits++; w.bits == 8 {
			if w.out = append(w.out, byte(w.acc)); byte(w.acc) == 0xff {
				w.out = append(w.out, 0)
			}
			w.bits = 0
		}
	}
}

func (w *bitWriter) difference(d int) {
	size := 0
	for v := max(d, -d); v != 0; v >>= 1 {
		size++
	}
	w.write(uint32(size), 4)
	if d < 0 {
		d--
	}
	w.write(uint32(d)&(1<<size-1), size)
}

func (w *bitWriter) flush() []byte {
	for w.bits != 0 {
		w.write(1, 1)
	}
	return w.out
}

// must fails the test for an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// flat is a JPEG of one value for each component.
func flat(w, h int, values ...byte) blocks {
	return blocks{width: w, height: h, sampling: bytes.Repeat([]byte{0x11}, len(values)),
		value: func(c, _, _ int) byte { return values[c] }}
}

// checked is a JPEG whose blocks differ.
func checked(w, h int, sampling ...byte) blocks {
	return blocks{width: w, height: h, sampling: sampling,
		value: func(c, x, y int) byte { return byte(40 + (x*37+y*59+c*83)%170) }}
}

// scene is an image somewhat like a photograph.
func scene(w, h int) *image.RGBA {
	rnd := rand.New(rand.NewPCG(1, 2))
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			fx, fy := float64(x), float64(y)
			base := 128 + 60*math.Sin(fx/31)*math.Cos(fy/23) + 30*math.Sin((fx+fy)/7)
			n := rnd.NormFloat64() * 7
			p := m.Pix[m.PixOffset(x, y):]
			p[0] = level(base + n + 30*math.Sin(fy/41))
			p[1] = level(base + n + 20*math.Cos(fx/53))
			p[2] = level(base + n - 40 + 25*math.Sin((fx-fy)/67))
			p[3] = 255
		}
	}
	return m
}

func level(v float64) byte { return byte(min(max(v, 0), 255)) }

func encodeJPEG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 94}))
	return b.Bytes()
}

func encodePNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, png.Encode(&b, m))
	return b.Bytes()
}

// decoders are those that can be had here.
func decoders(t testing.TB) []Decoder {
	t.Helper()
	all := []Decoder{newDecoder(t, Go)}
	if _, err := Library(); err == nil {
		all = append(all, newDecoder(t, Turbo))
	} else {
		t.Log(err)
	}
	return all
}

func newDecoder(t testing.TB, kind string) Decoder {
	t.Helper()
	d, err := usual.decoder(kind, nil)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

func newTurboDecoder(t testing.TB) Decoder {
	t.Helper()
	if lib, err := Library(); err != nil {
		t.Skip(err)
	} else {
		t.Logf("libjpeg-turbo %s, %s", lib.Version, lib.Path)
	}
	return newDecoder(t, Turbo)
}

// whole decodes all of an image, which has to work.
func whole(t testing.TB, d Decoder, data []byte) (Image, Info) {
	t.Helper()
	m, info, err := tried(d, data)
	if err != nil {
		t.Fatalf("%s: %v", d.Kind(), err)
	}
	return m, info
}

// tried decodes all of an image.
func tried(d Decoder, data []byte) (m Image, info Info, err error) {
	if info, err = Probe(data); err == nil {
		m, err = d.Decode(data, &info, image.Rect(0, 0, info.Width, info.Height))
	}
	return m, info, err
}

// at is R, G, B of a pixel.
func at(m Image, x, y int) [3]byte {
	o := (y-m.Window.Min.Y)*m.Stride + (x-m.Window.Min.X)*4
	return [3]byte(m.Pix[o : o+3])
}

// near says whether no value of a pixel is farther from another's.
func near(a, b [3]byte, most int) bool {
	for i := range a {
		if d := int(a[i]) - int(b[i]); max(d, -d) > most {
			return false
		}
	}
	return true
}

// differences are the mean and the largest difference of two images in a region.
func differences(a, b Image, w image.Rectangle) (mean float64, largest int) {
	n := 0
	for y := w.Min.Y; y < w.Max.Y; y++ {
		for x := w.Min.X; x < w.Max.X; x++ {
			p, q := at(a, x, y), at(b, x, y)
			for c := range p {
				d := int(p[c]) - int(q[c])
				d = max(d, -d)
				mean += float64(d)
				largest = max(largest, d)
				n++
			}
		}
	}
	return mean / float64(max(n, 1)), largest
}

// testFiles are files of a folder of DLBENCH_TESTDATA.
func testFiles(t testing.TB, pattern string) []string {
	t.Helper()
	dir := os.Getenv("DLBENCH_TESTDATA")
	if dir == "" {
		t.Skip("DLBENCH_TESTDATA names no folder with odd/ and photos/")
	}
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s in %s (%v)", pattern, dir, err)
	}
	return files
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

// webpFile is 20 x 10 pixels, (200, 30, 40) on the left and (20, 60, 180) on the right, as
// Pillow 13.0.0 writes them with quality 90.
var webpFile = []byte("" +
	"\x52\x49\x46\x46\x78\x00\x00\x00\x57\x45\x42\x50\x56\x50\x38\x20\x6c\x00\x00\x00\x30\x04\x00\x9d" +
	"\x01\x2a\x14\x00\x0a\x00\x3e\x31\x14\x88\x42\xa2\x21\x21\x18\x04\x00\x20\x03\x04\xa1\x2a\x00\x26" +
	"\x9a\xc0\x06\x60\x07\xf0\x0c\xa0\x0f\xd0\x00\x43\xa6\x00\x00\xfe\xf8\x4c\xff\xe5\x81\xee\xbd\x1f" +
	"\xff\xfd\x4e\xd6\xfc\x3c\x41\xf9\x49\xa7\xf6\xd7\x33\xff\xc8\x31\xff\x3a\x0f\xfc\x7c\xeb\xf7\x9f" +
	"\x1b\xbf\x37\xff\xf8\xf9\xd7\xef\x3f\xff\x42\x7a\x7f\xff\x32\x74\xae\x29\xff\xe8\x47\x1f\xff\xcc" +
	"\x9d\x2b\x80\xb4\x42\x90\x00\x00")
