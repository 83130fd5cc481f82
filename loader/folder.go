package loader

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// formats are those that the extensions of torchvision's ImageFolder claim.
var formats = map[string]string{".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png", ".bmp": "bmp",
	".tif": "tiff", ".tiff": "tiff", ".webp": "webp", ".ppm": "pnm", ".pgm": "pnm"}

// formatOf is the format that a name claims by its extension, in any case.
func formatOf(name string) string { return formats[strings.ToLower(path.Ext(name))] }

func isImage(name string) bool { return formatOf(name) != "" }

// mostLinks bounds how many linked folders a class may have: folders that link to
// each other could multiply without end even though no path is a loop.
const mostLinks = 4096

// openFiles reads a folder of class folders as torchvision's ImageFolder does: the
// sorted names of the folders are the classes, images are found by extension at any
// depth, links are followed. Other than torchvision it passes over hidden files and
// folders, keeps empty class folders as classes (as its allow_empty), and takes a
// folder of images without class folders, all with label -1.
func (s *Set) openFiles() error {
	if s.only == "" {
		return s.walk()
	}
	f, size, err := openRegular(filepath.Join(s.Root, s.only))
	if err != nil {
		return err
	}
	s.addImages([]File{{Path: s.only, Size: size}}, -1)
	return f.Close()
}

func (s *Set) walk() error {
	info, err := os.Stat(s.Root)
	if err != nil {
		return err
	}
	top := &folder{info: info}
	if err := top.list(s.Root); err != nil {
		return err
	}
	classes := make([][]*folder, len(top.folders))
	Parallel(len(classes), func(i int) { classes[i] = top.folders[i].below(s.Root) })
	images := 0
	for _, f := range slices.Concat(classes...) {
		images += len(f.images)
	}
	s.Skipped = top.skipped
	if n := len(top.images); images > 0 && n > 0 {
		s.Skipped = append(s.Skipped, Fault{Path: ".", Reason: fmt.Sprintf("%d images beside the class folders", n)})
	} else {
		s.addImages(top.images, -1)
	}
	s.Files, s.Samples = slices.Grow(s.Files, images), slices.Grow(s.Samples, images)
	for i, class := range classes {
		before := len(s.Samples)
		for _, f := range class {
			s.addImages(f.images, int32(i))
			s.Skipped = append(s.Skipped, f.skipped...)
		}
		if images > 0 {
			s.Classes = append(s.Classes, class[0].path)
		}
		if images > 0 && len(s.Samples) == before {
			s.Skipped = append(s.Skipped, Fault{Path: class[0].path, Reason: emptyClass})
		}
	}
	return nil
}

func (s *Set) addImages(files []File, label int32) {
	for _, f := range files {
		if why := unfit(f.Size); why != "" {
			s.Skipped = append(s.Skipped, Fault{Path: f.Path, Reason: why, Lost: true})
			continue
		}
		s.add(Sample{File: int32(len(s.Files)), Label: label, Len: f.Size})
		s.Files = append(s.Files, f)
	}
}

// unfit says why something of that size is no sample, "" if it is one.
func unfit(size int64) string {
	switch {
	case size == 0:
		return emptyFile
	case size > MostSample:
		return "larger than the 1 GiB that a sample may have"
	}
	return ""
}

// folder is a place in a walk, and what it holds, each kind by name.
type folder struct {
	path    string // relative to the root, with slashes; "" for the root
	info    os.FileInfo
	parent  *folder
	links   *int // linked folders in the class, so far; nil for the root
	images  []File
	folders []*folder
	skipped []Fault
}

// below lists a class folder and those below it, in torchvision's order: by their whole path.
func (f *folder) below(root string) []*folder {
	if err := f.list(root); err != nil {
		f.skipped = append(f.skipped, lost(f.path, err))
	}
	all := []*folder{f}
	for _, sub := range f.folders {
		all = append(all, sub.below(root)...)
	}
	slices.SortFunc(all, func(a, b *folder) int { return strings.Compare(a.path, b.path) })
	return all
}

// list finds what the folder holds: all that could be listed before an error. Files that
// are not images by their names are counted, since there may be one for each image.
func (f *folder) list(root string) error {
	full := filepath.Join(root, filepath.FromSlash(f.path))
	entries, err := os.ReadDir(full)
	others := 0
	for _, e := range entries {
		name, rel := e.Name(), path.Join(f.path, e.Name())
		link := e.Type()&fs.ModeSymlink != 0
		if hidden(name) {
			f.skipped = append(f.skipped, Fault{Path: rel, Reason: isHidden})
			continue
		}
		var info os.FileInfo
		var err error
		if link {
			info, err = os.Stat(filepath.Join(full, name))
		} else if e.IsDir() || isImage(name) {
			info, err = e.Info()
		}
		switch {
		case rel == InfoName:
		case err != nil:
			f.skipped = append(f.skipped, lost(rel, err))
		case info != nil && info.IsDir():
			f.enter(&folder{path: rel, info: info, parent: f, links: f.links}, link)
		case !isImage(name):
			others++
		case !info.Mode().IsRegular():
			f.skipped = append(f.skipped, Fault{Path: rel, Reason: "not a regular file", Lost: true})
		default:
			f.images = append(f.images, File{Path: rel, Size: info.Size()})
		}
	}
	if others > 0 {
		why := fmt.Sprintf("files whose names are not those of images: %d", others)
		f.skipped = append(f.skipped, Fault{Path: path.Join(".", f.path), Reason: why})
	}
	return err
}

// enter takes in a folder below f, unless a link to it goes too far.
func (f *folder) enter(sub *folder, link bool) {
	for up := f; up != nil; up = up.parent {
		if os.SameFile(sub.info, up.info) { // by device and inode
			f.skipped = append(f.skipped, Fault{Path: sub.path, Reason: "link to a folder that it is in"})
			return
		}
	}
	switch {
	case sub.links == nil: // a class
		sub.links = new(int)
	case link && *sub.links == mostLinks:
		const why = "more linked folders than a class may have"
		f.skipped = append(f.skipped, Fault{Path: sub.path, Reason: why, Lost: true})
		return
	case link:
		*sub.links++
	}
	f.folders = append(f.folders, sub)
}
