package decode

import (
	"bytes"
	"image"
	"image/gif"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// foreseen are files, and the readers that they stop, by their first letters: what the readers did
// with these files, not what the rules say. Of formats that cannot be written here there is only
// what tells them.
func foreseen(t *testing.T) map[string]struct {
	data []byte
	want string
} {
	var gifFile, bmpFile, deepFile, tiffFile, lzwFile bytes.Buffer
	must(t, gif.Encode(&gifFile, scene(40, 30), nil))
	must(t, bmp.Encode(&bmpFile, scene(40, 30)))
	see := scene(40, 30)
	see.Pix[3] = 99 // so that it has alpha, and 32 bits
	must(t, bmp.Encode(&deepFile, see))
	must(t, tiff.Encode(&tiffFile, scene(40, 30), nil))
	must(t, tiff.Encode(&lzwFile, scene(40, 30), &tiff.Options{Compression: tiff.Deflate}))
	jpg, pngFile := encodeJPEG(t, scene(64, 48)), encodePNG(t, scene(64, 48))
	end, pnm := len(jpg)-2, []byte("P5 40 30 255\n"+strings.Repeat("a", 1200))
	changed := func(data []byte, at int, with string) []byte {
		out := slices.Clone(data)
		copy(out[at:], with)
		return out
	}
	tables := bytes.Index(jpg, []byte{0xff, dht}) + 5
	scan := bytes.Index(jpg, startOfScan) + 200
	deep := checked(8, 8, 0x11)
	deep.process, deep.precision = 0xc1, 12
	return map[string]struct {
		data []byte
		want string
	}{
		"JPEG":                        {jpg, ""},
		"JPEG, bytes behind":          {append(slices.Clone(jpg), "more"...), ""},
		"JPEG, cut off":               {jpg[:end/2], "ptd"},
		"JPEG, cut off at the end":    {jpg[:end], "ptd"},
		"JPEG, zeros for its end":     {append(slices.Clone(jpg[:end]), make([]byte, 200)...), "t"},
		"JPEG, zeros from the middle": {append(slices.Clone(jpg[:end-300]), make([]byte, 3000)...), "t"},
		"JPEG, damaged":               {changed(jpg, scan, "\xff\xd3\x00\x00"), ""},
		"JPEG, tables broken":         {changed(jpg, tables, "\xff\xff\xff\xff"), "ptod"},
		"JPEG, ends behind its frame": {jpg[:scan-200], "ptod"},
		"JPEG, marker behind pixels":  {append(slices.Clone(jpg[:end]), "\xff\x51\xff\xd9"...), "pt"},
		"JPEG, third byte":            {changed(jpg, 2, "\x7f"), "ptod"},
		"JPEG, a side of 65535":       {changed(jpg, bytes.Index(jpg, []byte{0xff, sof0})+5, "\xff\xff"), "ptod"},
		"JPEG of 12 bits":             {deep.build(), "ptod"},
		"PNG":                         {pngFile, ""},
		"PNG, cut off":                {pngFile[:len(pngFile)/2], "ptod"},
		"PNG, ends in a checksum":     {pngFile[:len(pngFile)-14], "tod"},
		"PNG, without its end":        {pngFile[:len(pngFile)-12], "od"},
		"PNG, ends in its end":        {pngFile[:len(pngFile)-3], "od"},
		"PNG, wrong checksum":         {changed(pngFile, len(pngFile)-14, "\x00"), "tod"},
		"PNG, wrong text":             {pngOf(8, "tEXt", 1), "p"},
		"PNG, more data than pixels":  {pngOf(9, "tEXt", 0), ""},
		"PNG, palette broken":         {pngOf(8, "PLTE", 1), "ptod"},
		"PNG, zeros for its end":      {append(slices.Clone(pngFile[:len(pngFile)-12]), make([]byte, 12)...), "od"},
		"PNG, damaged":                {changed(pngFile, len(pngFile)/2, "\x00\xff\x00\xff\x55\x55"), "ptod"},
		"GIF":                         {gifFile.Bytes(), "d"},
		"GIF, cut off":                {gifFile.Bytes()[:gifFile.Len()/2], "ptod"},
		"BMP":                         {bmpFile.Bytes(), "t"},
		"BMP, cut off":                {bmpFile.Bytes()[:bmpFile.Len()/2], "ptod"},
		"BMP of 32 bits, cut off":     {deepFile.Bytes()[:deepFile.Len()/2], "ptod"},
		"JPEG, restarts, zeros":       {restarting(), "ptd"},
		"TIFF":                        {tiffFile.Bytes(), "t"},
		"TIFF, cut off":               {tiffFile.Bytes()[:tiffFile.Len()/2], "ptod"},
		"TIFF, damaged":               {changed(lzwFile.Bytes(), lzwFile.Len()/3, "\x00\xff\x00\xff\x55\x55"), "pt"},
		"PNM":                         {pnm, "t"},
		"PNM, cut off":                {pnm[:600], "ptod"},
		"WebP":                        {webpFile, ""},
		"WebP, cut off":               {webpFile[:len(webpFile)/2], "ptod"},
		"WebP, animated":              {animatedWebP(), "t"},
		"empty":                       {nil, "ptod"},
		"text":                        {[]byte("rate limit exceeded"), "ptod"},

		"TIFF of floats":     {tiffOf(map[uint16]uint32{256: 4, 257: 4, tagSampleFormat: 3, tagBits: 32}), "to"},
		"TIFF of CMYK":       {tiffOf(map[uint16]uint32{tagPhotometric: 5}), "t"},
		"AVIF":               {[]byte("\x00\x00\x00\x14ftypavif\x00\x00\x00\x00mif1"), "td"},
		"AVIF, bytes behind": {[]byte("\x00\x00\x00\x14ftypavif\x00\x00\x00\x00mif1\x9c\x00\x01\x00\x00\xffat"), "td"},
		"AVIF, cut off":      {[]byte("\x00\x00\x00\x14ftypavif\x00\x00\x00\x00mif1\x00\x00\x01\x00mdat"), "ptod"},
		"JPEG 2000":          {[]byte("\xff\x4f\xff\x51\x00\x2f\xff\xd9"), "t"},
		"JPEG 2000, cut off": {[]byte("\xff\x4f\xff\x51\x00\x2f"), "pt"},
		"PFM":                {[]byte("PF\n1 1\n"), "ptd"},
		"PFM, grey":          {[]byte("Pf\n1 1\n"), "tod"},
		"Sun raster":         {[]byte("\x59\xa6\x6a\x95"), "td"},
		"QOI":                {[]byte("qoif"), "tod"},
		"PDF":                {[]byte("%PDF-1.7\n"), "ptod"},
		"HEIC":               {[]byte("\x00\x00\x00\x14ftypheic\x00\x00\x00\x00mif1"), "ptod"},
	}
}

// restarting is a JPEG with restart markers from the middle on only zeros, without an end.
func restarting() []byte {
	whole := flat(64, 64, 77).build()
	at := bytes.Index(whole, startOfScan)
	return slices.Concat(whole[:at], []byte{0xff, dri, 0, 4, 0, 8}, whole[at:at+12], make([]byte, 3000))
}

// pngOf is a PNG of 8 x 8 pixels with so many rows and a chunk more, whose checksum is off by wrong.
func pngOf(rows int, name string, wrong byte) []byte {
	out := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(name string, body []byte, wrong byte) {
		out = append(out, pngChunkOf(name, body)...)
		out[len(out)-1] += wrong
	}
	chunk("IHDR", []byte{0, 0, 0, 8, 0, 0, 0, 8, 8, 3, 0, 0, 0}, 0)
	if name != "PLTE" {
		chunk("PLTE", []byte{0, 0, 0, 9, 9, 9}, 0)
	}
	chunk(name, []byte("a\x00b"), wrong)
	chunk("IDAT", deflated(make([]byte, 9*rows)), 0)
	chunk("IEND", nil, 0)
	return out
}

func foresee(d Decoder, data []byte) *Rule {
	info, err := Probe(data)
	var m Image
	if err == nil {
		m, err = d.Decode(data, &info, image.Rect(0, 0, info.Width, info.Height))
	}
	return Foresee(d, data, &info, m.Damage, err)
}

func initials(r *Rule) (all string) {
	if r == nil {
		return ""
	}
	for _, name := range r.Stops.Names() {
		all += name[:1]
	}
	return all
}

// What stops readers is foreseen as it was seen.
func TestForesee(t *testing.T) {
	d := newTurboDecoder(t)
	for name, c := range foreseen(t) {
		if dir := os.Getenv("DLBENCH_FORESEEN"); dir != "" { // to be tried on the readers
			must(t, os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, "/", " ")), c.data, 0o644))
		}
		if rule := foresee(d, c.data); initials(rule) != c.want {
			t.Errorf("%s: stops %q, want %q: %+v", name, initials(rule), c.want, rule)
		}
	}
}

// Where there is no libjpeg-turbo, all is foreseen but what Go's decoder is too lax or too strict for.
func TestForeseeByGo(t *testing.T) {
	d := newDecoder(t, Go)
	unlike := []string{"JPEG, zeros for its end", "JPEG, zeros from the middle", "JPEG, damaged",
		"JPEG, marker behind pixels"}
	for name, c := range foreseen(t) {
		if got := initials(foresee(d, c.data)); got != c.want && !slices.Contains(unlike, name) {
			t.Errorf("%s: stops %q, want %q", name, got, c.want)
		}
	}
}

func TestReaderNames(t *testing.T) {
	for _, name := range ReaderNames {
		if got := ReaderOf(name).Names(); !slices.Equal(got, []string{name}) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := ReaderOf("any").Names(); !slices.Equal(got, ReaderNames) {
		t.Errorf("any: %v", got)
	}
}

// FuzzForesee holds that every file has a prediction, and that what no decoder here takes for an
// image stops all readers.
func FuzzForesee(f *testing.F) {
	seeds(f)
	f.Add(pngOf(8, "tEXt", 1))
	f.Add(animatedWebP())
	d, err := limits{1 << 18, 20}.decoder(Auto, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rule := foresee(d, data)
		if rule != nil && rule.Stops == 0 {
			t.Errorf("a rule that stops none: %+v", rule)
		}
		if kind := FileTypeOf(data); (kind == nil || !kind.Image) && (rule == nil || rule.Stops != EveryReader) {
			t.Errorf("no image, but %+v", rule)
		}
	})
}
