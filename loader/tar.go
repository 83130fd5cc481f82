package loader

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strconv"
	"strings"
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
	for i := range shards {
		s.Skipped = append(s.Skipped, shards[i].skipped...)
		if len(shards[i].samples) == 0 {
			continue
		}
		file := int32(len(s.Files))
		s.Files = append(s.Files, File{names[i], shards[i].size})
		for _, sample := range shards[i].samples {
			sample.File = file
			s.Samples = append(s.Samples, sample)
		}
	}
	return nil
}

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

// shard is the index of one shard.
type shard struct {
	path    string
	size    int64
	samples []Sample
	skipped []Fault
}

func (s *shard) skip(offset int64, format string, args ...any) {
	s.skipped = append(s.skipped, Fault{Path: s.path, Offset: offset, Reason: fmt.Sprintf(format, args...), Lost: true})
}

// group is what a shard has of one key.
type group struct {
	sample int  // index into the shard's samples; -1 before there is an image
	image  bool // one was seen, good or not
	ext    string
	first  int64 // where its first member starts
	label  int32
}

// scan indexes the shard in r by its headers: a tar.Reader seeks over what members
// hold. It ends at the first member that is damaged or not wholly there: what was
// found before counts.
func (s *shard) scan(r io.ReaderAt, size int64) {
	s.size = size
	groups := map[string]*group{}
	keys := []string{} // in the order of their first members
	section := io.NewSectionReader(r, 0, size)
	at := int64(0)
	for archive := tar.NewReader(section); ; {
		h, err := archive.Next()
		if now, _ := section.Seek(0, io.SeekCurrent); now <= size { // else a member that is passed over is cut off
			at = now
		}
		if err == io.EOF {
			if at%512 != 0 {
				s.skip(at, "the rest of the shard: it ends in the middle of a member")
			}
			break
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			s.skip(at, "the rest of the shard: %s", tarReason(err))
			break
		}
		key, ext, ok := splitKey(h.Name)
		if !ok || !wantMember(h, ext) {
			continue
		}
		if h.Size > size-at {
			s.skip(at, "the rest of the shard: %s claims %d bytes of the %d that are left", h.Name, h.Size, size-at)
			break
		}
		g := groups[key]
		if g == nil {
			g = &group{sample: -1, first: at, label: -1}
			groups[key] = g
			keys = append(keys, key)
		}
		switch {
		case ext == "cls":
			g.label = readLabel(r, at, h.Size)
		case isImage("."+ext) && !strings.Contains(ext, "."):
			s.image(g, h, ext, at)
		}
	}
	for _, key := range keys {
		switch g := groups[key]; {
		case g.sample >= 0:
			s.samples[g.sample].Label = g.label
		case !g.image:
			s.skip(g.first, "%s has no image", key)
		}
	}
}

// image takes a member as the image of its sample, or says why it is none. Of two
// images with different extensions, such as a picture and its mask, the first is it.
func (s *shard) image(g *group, h *tar.Header, ext string, at int64) {
	switch {
	case g.image && g.ext != ext:
		return
	case g.image:
		s.skip(at, "%s is in the shard twice", h.Name)
		return
	}
	g.image, g.ext = true, ext
	switch {
	case h.Typeflag == tar.TypeLink || h.Typeflag == tar.TypeSymlink:
		s.skip(at, "%s is a link", h.Name)
	case sparse(h):
		s.skip(at, "%s is sparse", h.Name)
	case h.Size == 0:
		s.skip(at, "%s is empty", h.Name)
	case h.Size > MostSample:
		s.skip(at, "%s is larger than the 1 GiB that a sample may have", h.Name)
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
func wantMember(h *tar.Header, ext string) bool {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse, tar.TypeCont:
		return true
	case tar.TypeLink, tar.TypeSymlink:
		return isImage("." + ext)
	}
	return false
}

// sparse says whether a member's bytes do not lie in the shard as they are.
func sparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

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
