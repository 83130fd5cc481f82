package loader

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"

	"dlbench/loader/decode"
)

// openTar indexes WebDataset shards: members with one key, the name up to the first
// dot of its last part, are one sample; its image is the member with an image's
// extension, its label the number in .cls. Members of a key need not lie together.
func (s *Set) openTar(only string) error {
	names, err := matching(s.Root, only, isShard)
	if err != nil {
		return err
	}
	shards := make([]shard, len(names))
	scanAll(len(shards), func(i int) {
		shards[i].path = names[i]
		shards[i].index(filepath.Join(s.Root, names[i]))
	})
	files := make([]File, len(names))
	for i := range files {
		files[i] = File{Path: names[i], Size: shards[i].size}
	}
	s.addShards(files, shards)
	return nil
}

// addShards takes in what was found in shards.
func (s *Set) addShards(files []File, shards []shard) {
	shared(shards)
	for i := range shards {
		s.Skipped = append(s.Skipped, shards[i].skipped...)
		if len(shards[i].samples) == 0 {
			continue
		}
		file := int32(len(s.Files))
		s.Files = append(s.Files, files[i])
		for _, sample := range shards[i].samples {
			sample.File = file
			s.Samples = append(s.Samples, sample)
		}
	}
}

// shared says of each shard how many of its keys a shard before it has, too.
func shared(shards []shard) {
	type place struct {
		key   uint64
		shard int
	}
	var all []place
	for i := range shards {
		for _, key := range shards[i].keys {
			all = append(all, place{key, i})
		}
		shards[i].keys = nil
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(cmp.Compare(a.key, b.key), a.shard-b.shard) })
	again, first := make([]int, len(shards)), make([]int, len(shards))
	for i := 1; i < len(all); i++ {
		if a, b := all[i-1], all[i]; a.key == b.key {
			if again[b.shard]++; again[b.shard] == 1 {
				first[b.shard] = a.shard
			}
		}
	}
	for i, n := range again {
		if n > 0 {
			shards[i].note("%s in another shard, too, such as %s: WebDataset reads them as different samples",
				english.Plural(n, "key is", "keys are"), Escape(shards[first[i]].path))
		}
	}
}

var keySeed = maphash.MakeSeed()

func (s *shard) index(full string) {
	f, size, err := openRegular(full)
	if err != nil {
		s.skipped = append(s.skipped, lost(s.path, err))
		return
	}
	defer f.Close()
	adviseRandom(f)
	s.scan(f, size)
	if len(s.samples) == 0 && len(s.skipped) == 0 {
		s.skip(0, "shard without images")
	}
}

type shard struct {
	path    string
	size    int64
	samples []Sample
	keys    []uint64 // hashes of those of samples
	skipped []Fault
}

// note says something of the whole shard that costs no sample.
func (s *shard) note(format string, args ...any) {
	s.skipped = append(s.skipped, Fault{Path: s.path, Reason: fmt.Sprintf(format, args...)})
}

func (s *shard) skip(offset int64, format string, args ...any) {
	s.skipped = append(s.skipped, Fault{Path: s.path, Offset: offset, Reason: fmt.Sprintf(format, args...), Lost: true})
}

// group is what a shard has of one key.
type group struct {
	sample int  // index into the shard's samples; -1 before there is an image
	image  bool // one was seen, good or not
	ext    string
	apart  bool     // other members lie between its own
	parts  []string // members with an image's extension behind a second dot
	first  int64    // where its first member starts
	label  int32
}

// scan indexes the shard in r by its headers: a tar.Reader seeks over what members
// hold. A member that cannot be read costs itself alone, as long as its header says
// where it ends; else, and where a member is not wholly there, the rest is lost.
func (s *shard) scan(r io.ReaderAt, size int64) {
	s.size = size
	members := grouping{groups: map[string]*group{}, own: map[string]bool{}}
	section := io.NewSectionReader(r, 0, size)
	start, at := int64(0), int64(0) // of a member's headers, and of its data
	for archive := tar.NewReader(section); ; {
		h, err := archive.Next()
		if now, _ := section.Seek(0, io.SeekCurrent); now <= size { // else a member that is passed over is cut off
			at = now
		}
		if err == io.EOF {
			s.ended(r, start, at)
			break
		}
		if errors.Is(err, tar.ErrHeader) {
			if m, ok := extentOf(r, start, size); ok {
				s.skip(start, "%s cannot be read", Escape(m.name))
				start, at = m.end, m.end
				section.Seek(at, io.SeekStart)
				archive = tar.NewReader(section)
				continue
			}
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			s.broken(r, start, at, err)
			break
		}
		start = next(r, h, start, at, size)
		key, ext, ok := splitKey(h.Name)
		if !ok || !wantMember(h, ext) {
			continue
		}
		if h.Size > size-at && !sparse(h) {
			s.skip(at, "the rest of the shard: %s claims %d bytes of the %d that are left", Escape(h.Name), h.Size, size-at)
			break
		}
		g := members.of(h.Name, key, ext, at)
		switch {
		case ext == "cls":
			g.label = readLabel(r, at, h.Size)
		case isImage("."+ext) && !strings.Contains(ext, "."):
			s.image(g, h, ext, at)
		case isImage(ext):
			g.parts = append(g.parts, ext)
		}
	}
	s.conclude(&members)
}

// grouping is the members of a shard by their keys.
type grouping struct {
	groups     map[string]*group
	keys       []string        // in the order of their first members
	last       string          // key
	own        map[string]bool // extensions of its members in a row
	twice      int             // members whose key and extension another one in the row has
	firstTwice string
}

// of is the group of a member, whose data are at an offset.
func (m *grouping) of(name, key, ext string, at int64) *group {
	g := m.groups[key]
	if g == nil {
		g = &group{sample: -1, first: at, label: -1}
		m.groups[key] = g
		m.keys = append(m.keys, key)
	} else if key != m.last {
		g.apart = true
	}
	if key != m.last {
		clear(m.own)
	}
	if m.own[ext] {
		m.twice++
		m.firstTwice = cmp.Or(m.firstTwice, name)
	}
	m.last, m.own[ext] = key, true
	return g
}

// conclude gives the samples their labels, and says which groups are none and what WebDataset
// makes of others.
func (s *shard) conclude(m *grouping) {
	apart, parts, firstPart := 0, 0, ""
	for _, key := range m.keys {
		g := m.groups[key]
		if g.apart {
			apart++
		}
		switch {
		case g.sample >= 0:
			s.samples[g.sample].Label = g.label
			s.keys = append(s.keys, maphash.String(keySeed, key))
			if parts += len(g.parts); parts > 0 && firstPart == "" {
				firstPart = key + "." + g.parts[0]
			}
		case !g.image && len(g.parts) > 0:
			s.skip(g.first, "%s has no image: %d are parts of it, the first %s, since a key ends at the first dot",
				Escape(key), len(g.parts), Escape(g.parts[0]))
		case !g.image:
			s.skip(g.first, "%s has no image", Escape(key))
		}
	}
	if apart > 0 {
		s.note("%d samples whose files do not follow one another: WebDataset makes several of each", apart)
	}
	if m.twice > 0 {
		s.note("%s twice in a sample, the first %s"+stopsThere, english.Plural(m.twice, "file is", "files are"),
			Escape(m.firstTwice))
	}
	if parts > 0 {
		s.note("%s a part of a sample, the first %s, since a key ends at the first dot",
			english.Plural(parts, "image is", "images are"), Escape(firstPart))
	}
}

// broken says why nothing of the shard can be read from the member on that starts at start.
func (s *shard) broken(r io.ReaderAt, start, at int64, err error) {
	head := make([]byte, 1024)
	n, _ := r.ReadAt(head, start)
	t := decode.FileTypeOf(head[:n])
	if start == 0 && t != nil && t.Name != tarArchive {
		s.skip(0, "no tar archive: %s", t.Name)
		return
	}
	s.skip(at, "the rest of the shard: %s", tarReason(err))
}

// tarArchive is a shard as it should be, among decode.FileTypes.
const tarArchive = "a tar archive"

// recordSize is what tar pads an archive to, in bytes.
const recordSize = 10240

// ended looks at what lies behind the end of an archive: from mark on two blocks of zeros,
// to at, and then no more than zeros that fill a record. Readers stop there.
func (s *shard) ended(r io.ReaderAt, mark, at int64) {
	if at%blockSize != 0 {
		s.skip(at, "the rest of the shard: it ends in the middle of a member")
		return
	}
	behind, header := at, false
	buf := make([]byte, 64<<10)
	for behind < s.size {
		n, err := r.ReadAt(buf, behind)
		rest := bytes.TrimLeft(buf[:n], "\x00")
		behind += int64(n - len(rest))
		if len(rest) > 0 || err != nil {
			header = tarHeader(r, behind&^(blockSize-1))
			break
		}
	}
	switch {
	case header:
		s.skip(behind, "another archive, of %d bytes, behind the end of this one at %d, where readers stop",
			s.size-behind, mark)
	case behind < s.size:
		s.skip(behind, "%d bytes behind the end of the archive at %d, where readers stop", s.size-behind, mark)
	case s.size > roundUp(at, recordSize):
		s.skip(mark, "zeros from byte %d of %d: the rest of the shard is missing", mark, s.size)
	}
}

// image takes a member as the image of its sample, or says why it is none. Of two
// images with different extensions, such as a picture and its mask, the first is it.
func (s *shard) image(g *group, h *tar.Header, ext string, at int64) {
	name := Escape(h.Name)
	switch {
	case g.image && g.ext != ext:
		return
	case g.image:
		s.skip(at, "%s is in the shard twice", name)
		return
	}
	g.image, g.ext = true, ext
	switch {
	case h.Typeflag == tar.TypeLink || h.Typeflag == tar.TypeSymlink:
		s.skip(at, "%s is a link", name)
	case !isFile(h):
		s.skip(at, "%s is of type %q, which is no file", name, h.Typeflag)
	case sparse(h):
		s.skip(at, "%s is sparse", name)
	case h.Size == 0:
		s.skip(at, "%s is empty", name)
	case h.Size > MostSample:
		s.skip(at, "%s is larger than the 1 GiB that a sample may have", name)
	default:
		g.sample = len(s.samples)
		s.samples = append(s.samples, Sample{Off: at, Len: h.Size})
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

// wantMember says whether a member can be part of a sample. Every file makes its
// key known, so that a sample without an image is noticed.
func wantMember(h *tar.Header, ext string) bool { return isFile(h) || isImage("."+ext) }

// readLabel reads the decimal number of a .cls member, -1 if it is none.
func readLabel(r io.ReaderAt, off, size int64) int32 {
	var text [20]byte
	if size > int64(len(text)) {
		return -1
	}
	if _, err := r.ReadAt(text[:size], off); err != nil && err != io.EOF {
		return -1
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text[:size])), 10, 32)
	if err != nil || n < 0 {
		return -1
	}
	return int32(n)
}

func tarReason(err error) string {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends in the middle of a member"
	case errors.Is(err, tar.ErrHeader):
		return "damaged header"
	}
	return err.Error()
}
