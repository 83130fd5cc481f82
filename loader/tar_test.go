package loader

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func scanned(data []byte) *shard {
	s := &shard{path: "s.tar"}
	s.scan(bytes.NewReader(data), int64(len(data)))
	return s
}

// indexed is what a shard was found to hold: each sample's bytes and label.
func indexed(data []byte) (samples []string, skipped []string) {
	s := scanned(data)
	for _, x := range s.samples {
		samples = append(samples, fmt.Sprintf("%s=%d", data[x.Off:x.Off+x.Len], x.Label))
	}
	for _, k := range s.skipped {
		skipped = append(skipped, k.Reason)
	}
	return samples, skipped
}

func TestShard(t *testing.T) {
	long := strings.Repeat("d/", 200) + "long"
	tests := []struct {
		name    string
		members []member
		samples []string
		skipped []string // parts of reasons, in order
	}{
		{"image and label", plain("0.jpg=A", "0.cls=7\n", "1.PNG=B", "1.cls=9"), []string{"A=7", "B=9"}, nil},
		{"label first, label missing, label no number",
			plain("0.cls=3", "0.jpeg=A", "1.jpg=B", "2.jpg=C", "2.cls=cat"), []string{"A=3", "B=-1", "C=-1"}, nil},
		{"interleaved", plain("0.jpg=A", "1.jpg=B", "0.cls=5", "1.cls=6"), []string{"A=5", "B=6"},
			[]string{"samples whose files do not follow one another: 2, the first 0; WebDataset makes several of each"}},
		{"duplicate", plain("0.jpg=A", "0.jpg=B", "1.jpg=C"),
			[]string{"A=-1", "C=-1"}, []string{"0.jpg is in the shard twice",
				"files that are twice in their sample: 1, the first 0.jpg; WebDataset stops there"}},
		{"duplicate label", plain("0.jpg=A", "0.cls=1", "0.cls=2", "1.cls=1", "1.jpg=B", "1.cls=2"),
			[]string{"A=2", "B=2"}, []string{"files that are twice in their sample: 2, the first 0.cls"}},
		{"duplicate apart", plain("0.cls=1", "0.jpg=A", "1.jpg=B", "0.cls=1"), []string{"A=1", "B=-1"},
			[]string{"samples whose files do not follow one another: 1"}},
		{"same name in two folders", plain("x/0.jpg=A", "y/0.jpg=B", "x.y/0.cls=1"),
			[]string{"A=-1", "B=-1"}, []string{"x.y/0 has no image"}},
		{"picture and mask", plain("0.jpg=A", "0.seg.png=M", "0.png=N", "0.json={}"), []string{"A=-1"},
			[]string{"images that are a part of a sample: 1, the first 0.seg.png"}},
		{"without image", plain("0.cls=1", "1.jpg=A", "2.json={}"),
			[]string{"A=-1"}, []string{"0 has no image", "2 has no image"}},
		{"empty", plain("0.jpg=", "0.cls=1", "1.jpg=A"), []string{"A=-1"}, []string{"0.jpg: empty file"}},
		{"links, folders, hidden", []member{{name: "d/", kind: tar.TypeDir}, {name: "d.jpg", kind: tar.TypeSymlink},
			{name: "e.jpg", kind: tar.TypeLink}, {name: "d/._0.jpg", data: "mac"},
			{name: "__index__.jpg", data: "meta"}, {name: "d/0.jpg", data: "A"}},
			[]string{"A=-1"}, []string{"d.jpg: a link", "e.jpg: a link"}},
		{"long names", plain(long+".jpg=A", long+".cls=2"), []string{"A=2"}, nil},
		{"pax records", []member{{name: "0.jpg", data: "A",
			pax: map[string]string{"V.note": strings.Repeat("n", 9000)}}},
			[]string{"A=-1"}, nil},
		{"larger than a page", plain("0.jpg="+strings.Repeat("A", 5000), "1.jpg=B"),
			[]string{strings.Repeat("A", 5000) + "=-1", "B=-1"}, nil},
		{"names with dots", plain("s/22.00.png=A", "s/22.01.png=B", "v1.0/a.jpg=C"), []string{"C=-1"},
			[]string{"s/22 has no image",
				"images that are a part of a sample: 2, the first s/22.00.png, since a key ends at the first dot"}},
		{"nothing", nil, nil, []string{"shard without images"}},
	}
	for _, tt := range tests {
		samples, skipped := indexed(shardBytes(t, tt.members...))
		if !slices.Equal(samples, tt.samples) || !slices.EqualFunc(skipped, tt.skipped, strings.Contains) {
			t.Errorf("%s: samples %q, skipped %q, want %q, %q", tt.name, samples, skipped, tt.samples, tt.skipped)
		}
	}
}

// A shard cut anywhere yields the samples whose bytes are all there.
func TestTruncatedShard(t *testing.T) {
	var members []member
	for i := range 5 {
		image := fmt.Sprintf("%d.jpg=%s", i, content(i, 700))
		members = append(members, plain(image, fmt.Sprintf("%d.cls=%d", i, i))...)
	}
	whole := shardBytes(t, members...)
	full := scanned(whole)
	if len(full.samples) != 5 {
		t.Fatalf("%d samples of the whole shard", len(full.samples))
	}
	for cut := 0; cut < len(whole); cut += 13 {
		s := scanned(whole[:cut])
		want := 0
		for _, x := range full.samples {
			if x.Off+x.Len <= int64(cut) {
				want++
			}
		}
		if len(s.samples) != want {
			t.Fatalf("cut at %d: %d samples, want %d", cut, len(s.samples), want)
		}
		// A cut between members cannot be told from an archive without an end mark.
		if end := full.samples[4].Off + 1024; int64(cut) < end && cut%512 != 0 && len(s.skipped) == 0 && want < 5 {
			t.Fatalf("cut at %d: nothing was said", cut)
		}
	}
}

// gnuSparse is a member of GNU's sparse format: of more bytes than there are, with a map that
// goes on in a block of its own.
func gnuSparse(name string) []byte {
	head := make([]byte, 1024, 1536)
	copy(head, name)
	copy(head[100:], "0000644\x00")
	copy(head[124:], "00000001000\x00") // of data, octal
	copy(head[136:], "00000000000\x00")
	head[156] = tar.TypeGNUSparse
	copy(head[257:], "ustar  \x00")
	for i := range 4 {
		copy(head[386+24*i:], fmt.Sprintf("%011o\x00%011o\x00", 4096*i, 64))
	}
	head[482] = 1 // more of the map
	copy(head[483:], "00004000000\x00")
	for i := range 4 {
		copy(head[512+24*i:], fmt.Sprintf("%011o\x00%011o\x00", 4096*(4+i), 64))
	}
	checksum(head)
	return append(head, content(0, 512)...)
}

// A member that is odd costs itself alone; one whose header is damaged the rest of the shard, as
// in Python's tarfile.
func TestOddMember(t *testing.T) {
	changed := func(field int, text string) []byte {
		odd := shardBytes(t, plain("1.jpg="+strings.Repeat("B", 700))...)[:1536]
		copy(odd[field:], text)
		checksum(odd)
		return odd
	}
	for why, odd := range map[string][]byte{
		"1.jpg: sparse": gnuSparse("1.jpg"), "no file ('z')": changed(156, "z"),
		"the rest of the shard: damaged header": changed(108, "nobody\x00\x00"), // the owner
	} {
		want := []string{"A=-1", "C=-1", "D=-1"}
		if strings.Contains(why, "the rest") {
			want = want[:1]
		}
		before, after := shardBytes(t, plain("0.jpg=A")...), shardBytes(t, plain("2.jpg=C", "3.jpg=D")...)
		samples, skipped := indexed(slices.Concat(before[:1024], odd, after))
		if !slices.Equal(samples, want) || len(skipped) != 1 || !strings.Contains(skipped[0], why) {
			t.Errorf("%s: samples %q, skipped %q", why, samples, skipped)
		}
	}
}

// What follows the end of an archive is named, with where it begins and how much it is.
func TestBehindTheEnd(t *testing.T) {
	one := shardBytes(t, plain("0.jpg=A")...) // 1024 bytes, and the end's
	zeros := func(n int) []byte { return make([]byte, n) }
	for name, c := range map[string]struct {
		behind []byte
		offset int64
		want   string
	}{
		"nothing":           {nil, 0, ""},
		"a record":          {zeros(recordSize - len(one)), 0, ""},
		"more than that":    {zeros(recordSize), 1024, "zeros from byte 1024 of 12288: the rest of the shard is missing"},
		"another archive":   {one, 2048, "another archive, of 2048 bytes, behind the end of this one at 1024"},
		"behind a record":   {slices.Concat(zeros(recordSize-len(one)), one), recordSize, "another archive, of 2048 bytes"},
		"something":         {[]byte("abc"), 2048, "3 bytes behind the end of the archive at 1024"},
		"something, zeros":  {slices.Concat([]byte("abc"), zeros(99999)), 2048, "100002 bytes behind the end"},
		"zeros, something":  {slices.Concat(zeros(99999), []byte("abc")), 102047, "3 bytes behind the end"},
		"a block's rest":    {zeros(100), 0, ""},
		"zeros, in no step": {zeros(recordSize + 7), 1024, "zeros from byte 1024"},
	} {
		s := scanned(slices.Concat(one, c.behind))
		switch {
		case len(s.samples) != 1:
			t.Errorf("%s: %v", name, s.samples)
		case c.want == "" && len(s.skipped) > 0, c.want != "" && len(s.skipped) != 1:
			t.Errorf("%s: %v", name, s.skipped)
		case c.want != "" && (s.skipped[0].Offset != c.offset || !strings.Contains(s.skipped[0].Reason, c.want)):
			t.Errorf("%s: %+v, want %q at %d", name, s.skipped[0], c.want, c.offset)
		}
	}
}

// What is named like a shard and is none is named as what it is.
func TestNoShard(t *testing.T) {
	whole := shardBytes(t, plain("0.jpg=A", "1.jpg=B")...)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(whole)
	must(t, z.Close())
	for want, data := range map[string][]byte{"gzip data": packed.Bytes(), "an HTML page": []byte("<!doctype html><html>"),
		"a Git LFS pointer": []byte("version https://git-lfs.github.com/spec/v1\n"), "damaged header": content(7, 2000)} {
		if samples, skipped := indexed(data); len(samples) > 0 || len(skipped) != 1 ||
			!strings.Contains(skipped[0], want) {
			t.Errorf("%s: %q, %q", want, samples, skipped)
		}
	}
}

func TestBogusSize(t *testing.T) {
	data := shardBytes(t, plain("0.jpg=A", "1.jpg=B", "2.jpg=C")...)
	head := data[1024:1536] // of 1.jpg
	for _, size := range []string{"77777777777\x00", "\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		copy(head[124:136], size)
		checksum(head)
		samples, skipped := indexed(data)
		if !slices.Equal(samples, []string{"A=-1"}) || len(skipped) != 1 || !strings.Contains(skipped[0],
			"the rest of the shard") {
			t.Errorf("size %q: samples %q, skipped %q", size, samples, skipped)
		}
	}
}

// Of shards and images in one folder those that are more are taken, and the others named.
func TestShardsNextToImages(t *testing.T) {
	dir := t.TempDir()
	write(t, shardBytes(t, plain("0.jpg=A", "1.jpg=B")...), dir, "left.tar")
	for i := range 3 {
		write(t, []byte("picture"), dir, fmt.Sprintf("class%d", i), "0.jpg")
	}
	s := open(t, dir, "")
	if s.Store != Files || len(s.Samples) != 3 ||
		!hasSkipped(s, "left.tar", -1, "2 images in the same folder, in store tar, are left out") {
		t.Errorf("%s, %d samples, skipped %v", s.Store, len(s.Samples), s.Skipped)
	}
	write(t, shardBytes(t, plain("0.jpg="+strings.Repeat("C", 99))...), dir, "more.tar")
	s = open(t, dir, "")
	if s.Store != Tar || len(s.Samples) != 3 ||
		!hasSkipped(s, "class0/0.jpg", -1, "3 images in the same folder, in store files") {
		t.Errorf("%s, %d samples, skipped %v", s.Store, len(s.Samples), s.Skipped)
	}
	if s = open(t, dir, Files); s.Store != Files || len(s.Samples) != 3 {
		t.Errorf("as files: %s, %d samples", s.Store, len(s.Samples))
	}
}

func TestShardsOfADirectory(t *testing.T) {
	dir := t.TempDir()
	good := shardBytes(t, plain("0.jpg=A", "0.cls=4")...)
	write(t, good, dir, "b.tar")
	write(t, good, dir, "a.tar")
	write(t, good[:100], dir, "broken.tar")
	write(t, nil, dir, "empty.tar")
	write(t, good, dir, "._a.tar")
	write(t, good, dir, "nested.tar", "x.tar") // a folder named like a shard
	s := open(t, dir, "")
	if len(s.Files) != 2 || s.Files[0].Path != "a.tar" || s.Files[1].Path != "b.tar" ||
		s.Samples[1] != (Sample{1, 4, 512, 1}) {
		t.Errorf("files %v, samples %v", s.Files, s.Samples)
	}
	skippedAs(t, s, map[string]string{"broken.tar": "in the middle of a member", "empty.tar": "without images",
		"nested.tar": "not a regular file"})
	if got := s.Name(1); got != "b.tar at 512" {
		t.Errorf("name %q", got)
	}
}

// A key that several shards have is told of those behind the first, of shards that are copies, too.
func TestSharedKeys(t *testing.T) {
	dir := t.TempDir()
	write(t, shardBytes(t, plain("0.jpg=A", "1.jpg=B", "2.jpg=C")...), dir, "a.tar")
	write(t, shardBytes(t, plain("2.jpg=A", "3.jpg=B", "0.jpg=C")...), dir, "b.tar")
	write(t, shardBytes(t, plain("3.jpg=A", "x/1.jpg=B")...), dir, "c.tar")
	write(t, shardBytes(t, plain("9.jpg=A")...), dir, "d.tar")
	s := open(t, dir, Tar)
	if len(s.Samples) != 9 {
		t.Errorf("%d samples", len(s.Samples))
	}
	skippedAs(t, s, map[string]string{"b.tar": "keys that are in another shard, too: 2, the first in a.tar; WebDataset",
		"c.tar": "keys that are in another shard, too: 1, the first in b.tar"})
}

// FuzzShard holds that an index lies within its shard, and that its samples are what
// archive/tar reads, from one header or another on. Headers are put together from parts: whole ones that were mutated
// would be lost for their checksum, and long inputs take long to minimize.
func FuzzShard(f *testing.F) {
	f.Add("0.jpg", "00000000001", byte('0'), []byte("A"), "0.cls", "00000000001", byte('0'), []byte("7"), 0)
	f.Add("@LongLink", "00000000006", byte('L'), []byte("a/.png"), "x", "00000000001", byte('0'), []byte("B"), 100)
	f.Add("pax", "00000000013", byte('x'), []byte("11 size=10\n"), "0.jpg",
		"\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff", byte('S'), []byte{}, 1536)
	f.Fuzz(func(t *testing.T, name1, size1 string, kind1 byte, body1 []byte, name2, size2 string, kind2 byte,
		body2 []byte, cut int) {
		data := append(rawMember(name1, size1, kind1, body1), rawMember(name2, size2, kind2, body2)...)
		data = append(data, rawMember("last.jpg", "00000000001", '0', []byte("Z"))...)
		data = data[:len(data)-max(0, min(cut, len(data)))]
		s := scanned(data)
		held := map[string]bool{}
		for at := 0; at < len(data); at += blockSize { // a member that cannot be read is passed over
			for archive := tar.NewReader(bytes.NewReader(data[at:])); ; {
				h, err := archive.Next()
				if err != nil {
					break
				}
				if h.Size > int64(len(data)) {
					continue // sparse: not a sample
				}
				body, err := io.ReadAll(archive)
				if err != nil {
					break
				}
				held[string(body)] = true
			}
		}
		for i, x := range s.samples {
			if x.Off < 0 || x.Len <= 0 || x.Off > int64(len(data)) || x.Len > int64(len(data))-x.Off {
				t.Fatalf("sample %d lies outside: %+v of %d bytes", i, x, len(data))
			}
			body := string(data[x.Off : x.Off+x.Len])
			if !held[body] {
				t.Errorf("sample %d holds what the archive does not: %+v", i, x)
			}
		}
	})
}

// rawMember is a ustar header of fields as they are, with the right checksum, and a
// body in blocks.
func rawMember(name, size string, kind byte, body []byte) []byte {
	head := make([]byte, 512, 512+len(body)+512)
	copy(head[:100], name)
	copy(head[124:136], size)
	head[156] = kind
	copy(head[257:], "ustar\x0000")
	checksum(head)
	return append(append(head, body...), make([]byte, -len(body)&511)...)
}

func checksum(head []byte) {
	copy(head[148:156], "        ")
	sum := 0
	for _, b := range head[:512] {
		sum += int(b)
	}
	copy(head[148:156], fmt.Sprintf("%06o\x00 ", sum))
}

func TestShardWriter(t *testing.T) {
	write5 := func(dir string) *ShardWriter {
		w := CreateShards(dir, 2)
		for i := range 5 {
			must(t, w.Append([]string{"jpg", "png"}[i%2], content(i, 100), int32(i)-1))
		}
		return w
	}
	dir, again := t.TempDir(), t.TempDir()
	must(t, write5(dir).Close())
	must(t, write5(again).Close())
	for i, want := range [][]string{{"=-1", "=0"}, {"=1", "=2"}, {"=3"}} {
		name := fmt.Sprintf("%06d.tar", i)
		a, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		b, _ := os.ReadFile(filepath.Join(again, name))
		if !slices.Equal(a, b) {
			t.Errorf("%s: the same samples gave other bytes", name)
		}
		for k := range want {
			want[k] = string(content(2*i+k, 100)) + want[k]
		}
		if got, _ := indexed(a); !slices.Equal(got, want) {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	w := write5(t.TempDir())
	w.out.file.Close() // what it wrote is lost
	if w.Close() == nil || w.Close() == nil || w.Append("jpg", nil, 0) == nil {
		t.Error("a writer that failed goes on")
	}
	if w = CreateShards(filepath.Join(dir, "none"), 1); w.Append("jpg", []byte("x"), 0) == nil {
		t.Error("a folder that is not there was written to")
	}
}
