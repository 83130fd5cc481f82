package loader

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"dlbench/loader/decode"
)

// openTar indexes WebDataset shards, if there are any among names.
func (s *Set) openTar(names []string) bool {
	var files []File
	for _, name := range names {
		if isShard(name) {
			files = append(files, File{Path: name})
		}
	}
	s.addShards(files, func(f *File) (r io.ReaderAt, end func(), err error) {
		var file *os.File
		if file, f.Size, err = openRegular(filepath.Join(s.Root, f.Path)); err != nil {
			return nil, nil, err
		}
		adviseRandom(file)
		return file, func() { file.Close() }, nil
	})
	return len(files) > 0
}

// addShards indexes shards, each of which open opens: members with one key, the name up to
// the first dot of its last part, are one sample; its image is the member with an image's
// extension, its label the number in .cls. Members of a key need not lie together.
func (s *Set) addShards(files []File, open func(f *File) (r io.ReaderAt, end func(), err error)) {
	s.Store = Tar
	shards := make([]shard, len(files))
	Parallel(len(files), func(i int) {
		shards[i].path = files[i].Path
		r, end, err := open(&files[i])
		if err != nil {
			shards[i].skipped = []Fault{lost(files[i].Path, err)}
			return
		}
		defer end()
		shards[i].scan(r, files[i].Size)
	})
	holder := map[uint64]string{} // of a key: the first shard
	for i, x := range shards {
		var again oddity
		for _, key := range x.keys {
			if first, ok := holder[key]; ok {
				again.add("in " + first)
			} else {
				holder[key] = x.path
			}
		}
		x.note("keys that are in another shard, too", again, "; WebDataset reads them as different samples")
		s.Skipped = append(s.Skipped, x.skipped...)
		if len(x.samples) == 0 {
			continue
		}
		for _, sample := range x.samples {
			sample.File = int32(len(s.Files))
			s.add(sample)
		}
		s.Files = append(s.Files, files[i])
	}
}

type shard struct {
	path    string
	samples []Sample
	keys    []uint64 // hashes of those of samples
	skipped []Fault
}

var keySeed = maphash.MakeSeed()

func (s *shard) skip(offset int64, format string, args ...any) {
	s.skipped = append(s.skipped, Fault{Path: s.path, Offset: offset, Reason: fmt.Sprintf(format, args...), Lost: true})
}

// note says what is odd in the shard, how often, and what follows, if it is there at all. It
// costs no sample.
func (s *shard) note(what string, o oddity, follows string) {
	if o.n > 0 {
		why := fmt.Sprintf("%s: %d, the first %s", what, o.n, Escape(o.first)) + follows
		s.skipped = append(s.skipped, Fault{Path: s.path, Reason: why})
	}
}

// oddity is how often something odd is in a shard, and where first.
type oddity struct {
	n     int
	first string
}

func (o *oddity) add(name string) {
	if o.n++; o.n == 1 {
		o.first = name
	}
}

// group is what a shard has of one key.
type group struct {
	sample int    // index into the shard's samples; -1 before there is an image
	ext    string // of the image that was seen, good or not; "" before one was
	apart  bool   // other members lie between its own
	first  int64  // where its first member's data start
	label  int32
}

// members are those of a shard, by their keys.
type members struct {
	groups map[string]*group
	keys   []string        // in the order of their first members
	last   string          // key
	own    map[string]bool // extensions of its members in a row

	apart, twice, parts oddity
}

// scan indexes the shard in r by its headers: a tar.Reader seeks over what members
// hold. Where a header is damaged, or a member not wholly there, the rest is lost.
func (s *shard) scan(r io.ReaderAt, size int64) {
	m := members{groups: map[string]*group{}, own: map[string]bool{}}
	section := io.NewSectionReader(r, 0, size)
	at := int64(0) // behind the headers of a member
	for archive := tar.NewReader(section); ; {
		h, err := archive.Next()
		if now, _ := section.Seek(0, io.SeekCurrent); now <= size { // else a member that is passed over is cut off
			at = now
		}
		if err == nil && isFile(h) && !sparse(h) && h.Size > size-at {
			err = io.ErrUnexpectedEOF
		}
		if err == io.EOF {
			s.ended(section, at)
			break
		} else if err != nil {
			s.broken(section, at, err)
			break
		}
		s.take(&m, section, h, at)
	}
	for _, key := range m.keys {
		switch g := m.groups[key]; {
		case g.sample >= 0:
			s.samples[g.sample].Label = g.label
			s.keys = append(s.keys, maphash.String(keySeed, key))
		case g.ext == "":
			s.skip(g.first, "%s has no image", Escape(key))
		}
	}
	s.note("samples whose files do not follow one another", m.apart, "; WebDataset makes several of each")
	s.note("files that are twice in their sample", m.twice, stopsThere)
	s.note("images that are a part of a sample", m.parts, ", since a key ends at the first dot")
	if len(s.samples) == 0 && len(s.skipped) == 0 {
		s.skip(0, "shard without images")
	}
}

// take takes in a member, whose data are at an offset. Every file makes its key known, so
// that a sample without an image is noticed. Of two images with different extensions, such
// as a picture and its mask, the first is the sample's.
func (s *shard) take(m *members, r io.ReaderAt, h *tar.Header, at int64) {
	key, ext, ok := splitKey(h.Name)
	image := isImage("." + ext)
	if !ok || !image && !isFile(h) {
		return
	}
	g := m.groups[key]
	if g == nil {
		g = &group{sample: -1, first: at, label: -1}
		m.groups[key], m.keys = g, append(m.keys, key)
	} else if key != m.last && !g.apart {
		g.apart = true
		m.apart.add(key)
	}
	if key != m.last {
		clear(m.own)
	}
	if m.own[ext] {
		m.twice.add(h.Name)
	}
	m.last, m.own[ext] = key, true
	switch {
	case ext == "cls":
		g.label = readLabel(r, at, h.Size)
	case image && strings.Contains(ext, "."):
		m.parts.add(h.Name)
	case image && g.ext == ext:
		s.skip(at, "%s is in the shard twice", Escape(h.Name))
	case image && g.ext == "":
		if g.ext = ext; s.fits(h, at) {
			g.sample = len(s.samples)
			s.samples = append(s.samples, Sample{Off: at, Len: h.Size})
		}
	}
}

// fits is whether a member can be a sample, or says why not.
func (s *shard) fits(h *tar.Header, at int64) bool {
	why := unfit(h.Size)
	if sparse(h) {
		why = "sparse"
	} else if !isFile(h) {
		why = fmt.Sprintf("a link, or of another type that is no file (%q)", h.Typeflag)
	}
	if why != "" {
		s.skip(at, "%s: %s", Escape(h.Name), why)
	}
	return why == ""
}

// broken says why nothing of the shard can be read from an offset on.
func (s *shard) broken(r io.ReaderAt, at int64, err error) {
	head := make([]byte, 1024)
	n, _ := r.ReadAt(head, 0)
	t := decode.FileTypeOf(head[:n])
	if len(s.samples) == 0 && t != nil && t.Name != tarArchive {
		s.skip(0, "no tar archive: %s", t.Name)
		return
	}
	why := reason(err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		why = "it ends in the middle of a member"
	case errors.Is(err, tar.ErrHeader):
		why = "damaged header"
	}
	s.skipped = append(s.skipped, Fault{s.path, at, "the rest of the shard: " + why, true, err})
}

// tarArchive is a shard as it should be, among decode.FileTypes.
const tarArchive = "a tar archive"

const (
	blockSize  = 512   // of a tar archive
	recordSize = 10240 // that tar pads it to, in bytes
)

// ended looks at what lies behind the end of an archive: two blocks of zeros, which end
// at an offset, and then no more than zeros that fill a record. Readers stop there.
func (s *shard) ended(r *io.SectionReader, at int64) {
	if at%blockSize != 0 {
		s.broken(r, at, io.ErrUnexpectedEOF)
		return
	}
	mark, behind, size := at-2*blockSize, at, r.Size()
	buf := make([]byte, 64<<10)
	for behind < size {
		n, err := r.ReadAt(buf, behind)
		rest := bytes.TrimLeft(buf[:n], "\x00")
		behind += int64(n - len(rest))
		if err != nil && err != io.EOF {
			s.broken(r, behind, err)
			return
		}
		if len(rest) > 0 {
			break
		}
	}
	block := behind &^ (blockSize - 1)
	_, err := tar.NewReader(io.NewSectionReader(r, block, size-block)).Next()
	switch {
	case behind < size && err == nil:
		s.skip(behind, "another archive, of %d bytes, behind the end of this one at %d, where readers stop",
			size-behind, mark)
	case behind < size:
		s.skip(behind, "%d bytes behind the end of the archive at %d, where readers stop", size-behind, mark)
	case size > roundUp(at, recordSize):
		s.skip(mark, "zeros from byte %d of %d: the rest of the shard is missing", mark, size)
	}
}

// splitKey splits a member's name at the first dot of its last part, as WebDataset
// does: "a/0001.seg.png" is the "seg.png" of "a/0001".
func splitKey(name string) (key, ext string, ok bool) {
	dir, base := path.Split(name)
	stem, ext, ok := strings.Cut(base, ".")
	if !ok || stem == "" || ext == "" || strings.HasPrefix(name, "__") {
		return "", "", false // directories, hidden files, WebDataset's own "__...__"
	}
	return dir + stem, strings.ToLower(ext), true
}

// readLabel reads the decimal number of a .cls member, -1 if it is none.
func readLabel(r io.ReaderAt, off, size int64) int32 {
	text := make([]byte, min(size, 20))
	r.ReadAt(text, off) // what cannot be read is no number
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 31)
	if err != nil {
		return -1
	}
	return int32(n)
}

func isFile(h *tar.Header) bool {
	return h.Typeflag == tar.TypeReg || h.Typeflag == tar.TypeGNUSparse || h.Typeflag == tar.TypeCont
}

// sparse says whether a member's bytes do not lie in the shard as they are.
func sparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return h.Typeflag == tar.TypeGNUSparse
}
