package loader

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dlbench/bench/theory"
)

// content is n bytes that tell sample i from others and each place in it.
func content(i, n int) []byte {
	data := make([]byte, n)
	for k := range data {
		data[k] = byte(i*131 + k*7 + k>>8*13)
	}
	return data
}

// must fails the test for an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes a file and the folders above it.
func write(t testing.TB, data []byte, path ...string) string {
	t.Helper()
	full := filepath.Join(path...)
	must(t, os.MkdirAll(filepath.Dir(full), 0o755))
	must(t, os.WriteFile(full, data, 0o644))
	return full
}

func open(t testing.TB, path, store string) *Set {
	t.Helper()
	s, err := Open(path, store)
	must(t, err)
	return s
}

// member is one of a shard that a test writes.
type member struct {
	name string
	data string
	kind byte // 0 for a regular file
	pax  map[string]string
}

// plain are regular members of a shard, each as "name=data".
func plain(texts ...string) (members []member) {
	for _, text := range texts {
		name, data, _ := strings.Cut(text, "=")
		members = append(members, member{name: name, data: data})
	}
	return members
}

func shardBytes(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(m.data)), PAXRecords: m.pax}
		if m.kind != 0 {
			h.Typeflag, h.Size = m.kind, 0
			h.Linkname = "elsewhere"
		}
		must(t, w.WriteHeader(h))
		_, err := w.Write([]byte(m.data)[:h.Size])
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

// small is a record of 8 x 9 x 3 bytes, or batches of images of them.
func small(images int) Record {
	return Record{Batch: theory.Batch{Images: images, Height: 8, Width: 9, Channels: 3, DType: "uint8"}, Layout: "nhwc"}
}

// writeRecords makes a file of count records of content, labelled by number.
func writeRecords(t testing.TB, path, kind string, r Record, count int) {
	t.Helper()
	w, err := CreateRecords(path, kind, r)
	must(t, err)
	for i := range count {
		labels := make([]int32, r.Images)
		for k := range labels {
			labels[k] = int32(i*r.Images + k)
		}
		must(t, w.Append(content(i, int(r.Bytes())), labels))
	}
	must(t, w.Close())
}

// writeStore makes a data set of count samples of content in dir: images of size bytes
// and their number more, as files or shards, or records of r.
func writeStore(t testing.TB, dir, kind string, count, size int, r Record) {
	t.Helper()
	switch kind {
	case Files:
		for i := range count {
			write(t, content(i, size+i), dir, fmt.Sprintf("c%d", i*4/count), fmt.Sprintf("%06d.jpg", i))
		}
	case Tar:
		w := CreateShards(dir, max(1, (count+2)/3))
		for i := range count {
			must(t, w.Append("jpg", content(i, size+i), int32(i)))
		}
		must(t, w.Close())
	default:
		writeRecords(t, filepath.Join(dir, "part."+kind), kind, r, count)
	}
}

// store makes a data set of count samples in a fresh directory.
func store(t testing.TB, kind string, count, size int) *Set {
	t.Helper()
	dir := t.TempDir()
	one := theory.Batch{Images: 1, Height: 1, Width: size, Channels: 1, DType: "uint8"}
	writeStore(t, dir, kind, count, size, Record{one, "nchw"})
	return open(t, dir, "")
}

// remove removes the file that sample i lies in.
func remove(t testing.TB, s *Set, i int) {
	t.Helper()
	must(t, os.Remove(filepath.Join(s.Root, filepath.FromSlash(s.Files[s.Samples[i].File].Path))))
}

// skippedAs fails unless each path was skipped for a reason that contains what stands
// with it.
func skippedAs(t testing.TB, s *Set, want map[string]string) {
	t.Helper()
	for path, why := range want {
		if !hasSkipped(s, path, -1, why) {
			t.Errorf("%s was not skipped as %q: %v", path, why, s.Skipped)
		}
	}
}

// hasSkipped says whether path was skipped at the offset for a reason that contains
// why; an offset of -1 is any.
func hasSkipped(s *Set, path string, offset int64, why string) bool {
	for _, k := range s.Skipped {
		if k.Path == path && (offset < 0 || k.Offset == offset) && bytes.Contains([]byte(k.Reason), []byte(why)) {
			return true
		}
	}
	return false
}
