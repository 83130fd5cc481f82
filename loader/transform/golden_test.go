package transform

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPillow proves exact mode equal to Pillow, by hashes that testdata/pillow.py made of
// the same images: random crops, and the centres of resized images.
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
		var w, h, x, y, cw, ch, ow, oh, size int
		var hash string
		var box Box
		if _, err := fmt.Sscanf(line, "crop %d %d %d %d %d %d %d %d %s", &w, &h, &x, &y, &cw, &ch, &ow, &oh, &hash); err == nil {
			box = crop(x, y, cw, ch, false)
		} else if _, err := fmt.Sscanf(line, "center %d %d %d %d %d %s", &w, &h, &size, &ow, &oh, &hash); err == nil {
			box = CenterCrop(w, h, size, ow, oh)
		} else {
			t.Fatalf("line %q", line)
		}
		src := picture(w, h)
		for _, reference := range []bool{false, true} {
			got := sample(t, Options{Width: ow, Height: oh, DType: Uint8, Exact: true, NoAssembler: reference}, src, box)
			if sum := sha256.Sum256(got); hex.EncodeToString(sum[:]) != hash {
				t.Errorf("%s: reference %v: got %x", line, reference, sum)
			}
		}
	}
	if cases < 20 {
		t.Errorf("%d cases", cases)
	}
}

func sample(t testing.TB, o Options, src Source, b Box) []byte {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, r.Bytes())
	if err := r.Apply(dst, src, b); err != nil {
		t.Fatalf("%+v, %+v: %v", o, b, err)
	}
	return dst
}
