package decode

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"strings"
	"testing"
)

func TestNew(t *testing.T) {
	if _, err := usual.decoder("gpu", nil); err == nil || !strings.Contains(err.Error(), "auto, turbo, go") {
		t.Errorf("unknown kind: %v", err)
	}
	d := newDecoder(t, Auto)
	_, err := Library()
	if (d.Kind() == Turbo) != (err == nil) {
		t.Errorf("auto is %s; the library: %v", d.Kind(), err)
	}
	_, err2 := usual.decoder(Turbo, nil)
	if (err == nil) != (err2 == nil) || err2 != nil && !errors.Is(err2, ErrNoLibrary) {
		t.Errorf("turbo: %v; the library: %v", err2, err)
	}
}

// As it is where no library is installed.
func TestAdvice(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		if names, advice := candidates(system); len(names) == 0 || advice == "" {
			t.Errorf("%s: %q, %q", system, names, advice)
		}
	}
}

func TestLimits(t *testing.T) {
	gray := func(w, h int) []byte { return flat(w, h, 100).build() }
	progressive := flat(64, 64, 100)
	progressive.process = 0xc2
	scans := progressive.build()
	scans = append(scans[:len(scans)-2], bytes.Repeat([]byte("\xff\xda\x00\x08\x01\x01\x00\x01\x3f\x00\x00"), 600)...)
	header := func(data []byte, w, h int) []byte {
		info, _ := Probe(data)
		data = bytes.Clone(data)
		copy(data[info.frame:], []byte{byte(h >> 8), byte(h), byte(w >> 8), byte(w)})
		return data
	}
	for name, c := range map[string]struct {
		data []byte
		l    limits
		want string // how the error begins
	}{
		"within":           {gray(64, 64), limits{4096, 500}, "<nil>"},
		"over":             {gray(64, 65), limits{4096, 500}, "too large: 64 x 65 is over 4096 pixels"},
		"over by default":  {header(gray(64, 64), 65535, 2731), usual, "too large: 65535 x 2731 is over 178956970"},
		"no data for that": {header(gray(64, 64), 65500, 2700), usual, "JPEG: 65500 x 2700 in "},
		"scans":            {scans, usual, "too large: over 500 scans"},
		"scans, and more":  {scans, limits{usual.pixels, 100}, "too large: over 100 scans"},
		"scans of many": {append(header(scans, 8000, 8000), make([]byte, 130000)...), limits{usual.pixels, 1000},
			"too large: 8000 x 8000 in 601 scans"},
		"png": {encodePNG(t, image.NewGray(image.Rect(0, 0, 70, 70))), limits{4096, 500},
			"too large: 70 x 70 is over 4096 pixels"},
		"png within":          {encodePNG(t, image.NewGray(image.Rect(0, 0, 64, 64))), limits{4096, 500}, "<nil>"},
		"one of many allowed": {progressive.build(), limits{usual.pixels, 1}, "<nil>"},
	} {
		info, err := Probe(c.data)
		must(t, err)
		for _, kind := range []string{Go, Auto} {
			d, err := c.l.decoder(kind, nil)
			must(t, err)
			_, err = d.Decode(c.data, &info, image.Rect(0, 0, 1, 1))
			if !strings.HasPrefix(fmt.Sprint(err), c.want) {
				t.Errorf("%s, %s: %v, want %q", name, d.Kind(), err, c.want)
			}
			d.Close()
		}
	}
}

func TestRecovered(t *testing.T) {
	third := func(data []byte) (err error) {
		defer recovered(&err)
		_ = data[2]
		return nil
	}
	if err := third(make([]byte, 3)); err != nil {
		t.Error(err)
	}
	if err := third(nil); err == nil || !strings.HasPrefix(err.Error(), "decoder panicked: ") {
		t.Error(err)
	}
}

// A decoder can be used on after Close.
func TestClose(t *testing.T) {
	data := encodeJPEG(t, scene(40, 30))
	for _, d := range decoders(t) {
		whole(t, d, data)
		if err := errors.Join(d.Close(), d.Close()); err != nil {
			t.Error(err)
		}
		whole(t, d, data)
	}
}
