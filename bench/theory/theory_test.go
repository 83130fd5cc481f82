package theory

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// near reports whether have, rounded to the digits of want, is want: |have-want| <= half.
func near(have, want, half float64) bool { return math.Abs(have-want) <= half }

func TestLineRate(t *testing.T) {
	batch := ArticleBatch.Bytes()
	if batch != 19_440_000 {
		t.Fatalf("article's batch = %d B, want 19 440 000", batch)
	}
	for _, c := range []struct {
		links    []string
		gbps, ms float64
		half     float64 // of the last digit of gbps
	}{
		{[]string{"gen1x16"}, 4.00, 4.860, 0.005},
		{[]string{"gen2x16"}, 8.00, 2.430, 0.005},
		{[]string{"gen3x4"}, 3.938, 4.936, 0.0005},
		{[]string{"gen3x8", "gen4x4"}, 7.877, 2.468, 0.0005},
		{[]string{"gen3x16", "gen4x8", "gen5x4"}, 15.754, 1.234, 0.0005},
		{[]string{"gen4x16", "gen5x8"}, 31.508, 0.617, 0.0005},
		{[]string{"gen5x16"}, 63.015, 0.308, 0.0005},
		{[]string{"gen6x16"}, 118, 0.165, 0.5},
	} {
		for _, s := range c.links {
			l, err := ParseLink(s)
			if err != nil {
				t.Fatal(err)
			}
			if !near(l.LineRate()/1e9, c.gbps, c.half) {
				t.Errorf("%s: line rate %.4f GB/s, want %.3f", s, l.LineRate()/1e9, c.gbps)
			}
			if ms := 1e3 * Time(batch, l.LineRate()); !near(ms, c.ms, 0.001) {
				t.Errorf("%s: batch %.4f ms, want %.3f", s, ms, c.ms)
			}
			if l.String() != s {
				t.Errorf("%s: String gives %s", s, l)
			}
		}
	}
}

func TestBand(t *testing.T) {
	for _, c := range []struct {
		dir    Direction
		link   string
		lo, hi float64 // GB/s
	}{
		{HostToDevice, "gen3x4", 3.00, 3.65}, {HostToDevice, "gen3x8", 6.00, 7.31}, {HostToDevice, "gen3x16", 12.00, 14.61},
		{HostToDevice, "gen4x16", 24.0, 29.22}, {HostToDevice, "gen5x16", 48.0, 58.45},
		// writes start at 128 bytes, 84.2 %, and carry 4 bytes more of header, 91.4 %
		{DeviceToHost, "gen3x16", 13.27, 14.40}, {DeviceToHost, "gen5x16", 53.07, 57.61},
	} {
		l, _ := ParseLink(c.link)
		if lo, hi, ok := l.Band(c.dir); !ok || !near(lo/1e9, c.lo, 0.02) || !near(hi/1e9, c.hi, 0.02) {
			t.Errorf("%s: band %.2f-%.2f GB/s (%t), want %+v", l, lo/1e9, hi/1e9, ok, c)
		}
	}
	if _, _, ok := (Link{6, 16}).Band(HostToDevice); ok {
		t.Error("generation 6 has a band, but its flits are not described by header sums")
	}
}

// Every published band must lie below the line rate, or one of the two is wrong.
func TestPublishedBelowLineRate(t *testing.T) {
	for _, p := range published {
		if p.Lo >= p.Hi || p.Hi > p.Link.LineRate() {
			t.Errorf("%s %s: %.1f-%.1f GB/s against a line rate of %.1f", p.Link, p.Mem, p.Lo/1e9, p.Hi/1e9,
				p.Link.LineRate()/1e9)
		}
	}
}

// What assumed links are given must lie within what was published, of all links.
func TestAssumedSharesWithinPublished(t *testing.T) {
	var ranges []string
	for _, mem := range []string{"pinned", "pageable"} {
		lo, hi := math.Inf(1), 0.0
		for _, p := range published {
			if p.Mem == mem {
				lo, hi = min(lo, p.Lo/p.Link.LineRate()), max(hi, p.Hi/p.Link.LineRate())
			}
		}
		share := Rates{AssumedPinned, AssumedPageable}.Of(mem)
		if !(lo < share && share < hi) {
			t.Errorf("%s: assumed %.2f of the line rate, published %.2f-%.2f", mem, share, lo, hi)
		}
		ranges = append(ranges, fmt.Sprintf("%.2f-%.2f", lo, hi))
	}
	if all := strings.Join(ranges, " and "); all != publishedShares {
		t.Errorf("published shares %s, not %s", all, publishedShares)
	}
}

func TestArticle(t *testing.T) {
	batch := ArticleBatch.Bytes()
	for lanes, quotient := range map[int]float64{16: 1.13, 8: 2.26, 4: 4.53} {
		l := Link{3, lanes}
		a, ok := Article(ArticleBatch, l)
		if !ok {
			t.Fatalf("%s: no figures", l)
		}
		q := float64(batch) / float64(lanes<<30)
		if !near(q*1e3, quotient, 0.005) {
			t.Errorf("%s: quotient %.4f ms, want %.2f", l, q*1e3, quotient)
		}
		if !near(a.Theory*1e3, q*1e3, 0.05) {
			t.Errorf("%s: printed %.1f ms is no rounding of %.3f ms", l, a.Theory*1e3, q*1e3)
		}
		if slip := Time(batch, l.LineRate())/q - 1; slip < 0.0895 || slip > 0.0915 {
			t.Errorf("%s: line rate is %.1f %% slower than the article's theory, want 9", l, slip*100)
		}
		if a.Practice < 1.7*a.Theory || a.Practice > 2.3*a.Theory {
			t.Errorf("%s: practice %.1f ms is not about twice %.1f ms", l, a.Practice*1e3, a.Theory*1e3)
		}
	}
	for _, l := range []Link{{4, 16}, {3, 1}, {2, 16}} {
		if _, ok := Article(ArticleBatch, l); ok {
			t.Errorf("%s: the article has no figure for it", l)
		}
	}
	half := ArticleBatch
	half.DType = "float16"
	if _, ok := Article(half, Link{3, 16}); ok {
		t.Error("the article has no figure for a float16 batch")
	}
	if ms := 1e3 * float64(batch) / (100 << 20); !near(ms, ArticleDiskTime*1e3, 0.5) {
		t.Errorf("batch over 100 MiB/s: %.1f ms, want 185", ms)
	}
	if ms := 1e3 * Time(batch, ArticleDiskRate); !near(ms, 194.4, 0.05) {
		t.Errorf("batch over 100 MB/s: %.1f ms, want 194.4", ms)
	}
}

func TestParseLinkRefuses(t *testing.T) {
	for _, s := range []string{"", "gen3", "x16", "gen0x16", "gen7x16", "gen3x3", "gen3x64", "Gen3x16", "gen3x16 ",
		"gen3x016"} {
		if l, err := ParseLink(s); err == nil {
			t.Errorf("ParseLink(%q) = %v", s, l)
		}
	}
}

func TestLinkOf(t *testing.T) {
	for gen := 1; gen <= 7; gen++ {
		want := Link{gen, 8}
		if l, ok := LinkOf(want.TransferRate(), 8); !ok || l != want {
			t.Errorf("LinkOf(%g, 8) = %v, %t", want.TransferRate(), l, ok)
		}
	}
	for _, c := range []struct {
		gts   float64
		lanes int
	}{{0, 16}, {8, 0}, {25, 16}} {
		if l, ok := LinkOf(c.gts, c.lanes); ok {
			t.Errorf("LinkOf(%g, %d) = %v", c.gts, c.lanes, l)
		}
	}
}

func TestBatch(t *testing.T) {
	b := ArticleBatch
	for _, d := range DTypes {
		b.DType = d
		if want := int64(32*225*225*3) * int64(SizeOf(d)); b.Bytes() != want || want == 0 {
			t.Errorf("%s: %d B, want %d", b, b.Bytes(), want)
		}
		if err := b.Check(); err != nil {
			t.Error(err)
		}
	}
	if b.DType = "float64"; b.Check() == nil {
		t.Error("float64 is not offered")
	}
}
