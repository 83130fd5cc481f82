package loader

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// indexed is what a shard was found to hold: each sample's bytes and label.
func indexed(data []byte) (samples []string, skipped []string) {
	s := shard{path: "s.tar"}
	s.scan(bytes.NewReader(data), int64(len(data)))
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
		{"interleaved", plain("0.jpg=A", "1.jpg=B", "0.cls=5", "1.cls=6"), []string{"A=5", "B=6"}, nil},
		{"duplicate", plain("0.jpg=A", "0.jpg=B", "1.jpg=C"),
			[]string{"A=-1", "C=-1"}, []string{"0.jpg is in the shard twice"}},
		{"same name in two folders", plain("x/0.jpg=A", "y/0.jpg=B", "x.y/0.cls=1"),
			[]string{"A=-1", "B=-1"}, []string{"x.y/0 has no image"}},
		{"picture and mask", plain("0.jpg=A", "0.seg.png=M", "0.png=N", "0.json={}"), []string{"A=-1"}, nil},
		{"without image", plain("0.cls=1", "1.jpg=A", "2.json={}"),
			[]string{"A=-1"}, []string{"0 has no image", "2 has no image"}},
		{"empty", plain("0.jpg=", "0.cls=1", "1.jpg=A"), []string{"A=-1"}, []string{"0.jpg is empty"}},
		{"links, folders, hidden", []member{{name: "d/", kind: tar.TypeDir}, {name: "d.jpg", kind: tar.TypeSymlink},
			{name: "e.jpg", kind: tar.TypeLink}, {name: "d/._0.jpg", data: "mac"},
			{name: "__index__.jpg", data: "meta"}, {name: "d/0.jpg", data: "A"}},
			[]string{"A=-1"}, []string{"d.jpg is a link", "e.jpg is a link"}},
		{"long names", plain(long+".jpg=A", long+".cls=2"), []string{"A=2"}, nil},
		{"pax records", []member{{name: "0.jpg", data: "A",
			pax: map[string]string{"V.note": strings.Repeat("n", 9000)}}},
			[]string{"A=-1"}, nil},
		{"larger than a page", plain("0.jpg="+strings.Repeat("A", 5000), "1.jpg=B"),
			[]string{strings.Repeat("A", 5000) + "=-1", "B=-1"}, nil},
		{"nothing", nil, nil, nil},
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
	full := shard{path: "s.tar"}
	full.scan(bytes.NewReader(whole), int64(len(whole)))
	if len(full.samples) != 5 {
		t.Fatalf("%d samples of the whole shard", len(full.samples))
	}
	for cut := 0; cut < len(whole); cut += 13 {
		s := shard{path: "s.tar"}
		s.scan(bytes.NewReader(whole[:cut]), int64(cut))
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

// FuzzShard holds that an index lies within its shard, and that its samples are what
// archive/tar reads. Headers are put together from parts: whole ones that were mutated
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
		s := shard{path: "s.tar"}
		s.scan(bytes.NewReader(data), int64(len(data)))
		held := map[string]int{}
		for archive := tar.NewReader(bytes.NewReader(data)); ; {
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
			held[string(body)]++
		}
		for i, x := range s.samples {
			if x.Off < 0 || x.Len <= 0 || x.Off > int64(len(data)) || x.Len > int64(len(data))-x.Off {
				t.Fatalf("sample %d lies outside: %+v of %d bytes", i, x, len(data))
			}
			body := string(data[x.Off : x.Off+x.Len])
			if held[body]--; held[body] < 0 {
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
