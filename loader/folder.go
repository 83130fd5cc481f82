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
func (s *Set) openFiles(only string) error {
	if only == "" {
		return s.walk()
	}
	info, err := os.Stat(filepath.Join(s.Root, only))
	if err != nil {
		return err
	}
	if why := unfit(info.Mode(), info.Size()); why != "" {
		s.Skipped = append(s.Skipped, Fault{Path: only, Reason: why, Lost: true})
		return nil
	}
	s.addImage(File{Path: only, Size: info.Size()}, -1)
	return nil
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
	scanAll(len(top.folders), func(i int) { top.folders[i].walk(s.Root) })
	images := 0
	for _, class := range top.folders {
		images += len(class.images)
	}
	s.Skipped = top.skipped
	if images == 0 {
		for _, f := range top.images {
			s.addImage(f, -1)
		}
	} else if n := len(top.images); n > 0 {
		s.Skipped = append(s.Skipped, Fault{Path: ".", Reason: fmt.Sprintf("%d images beside the class folders", n)})
	}
	s.Files, s.Samples = slices.Grow(s.Files, images), slices.Grow(s.Samples, images)
	for i, class := range top.folders {
		for _, f := range class.images {
			s.addImage(f, int32(i))
		}
		s.Skipped = append(s.Skipped, class.skipped...)
		if images > 0 {
			s.Classes = append(s.Classes, class.path)
		}
		if images > 0 && len(class.images) == 0 {
			s.Skipped = append(s.Skipped, Fault{Path: class.path, Reason: emptyClass})
		}
	}
	return nil
}

func (s *Set) addImage(f File, label int32) {
	s.Samples = append(s.Samples, Sample{File: int32(len(s.Files)), Label: label, Len: f.Size})
	s.Files = append(s.Files, f)
}

// unfit says why something with that mode and size is no sample, "" if it is one.
func unfit(mode fs.FileMode, size int64) string {
	switch {
	case mode.IsDir():
		return "a folder named like an image"
	case !mode.IsRegular():
		return "not a regular file"
	case size == 0:
		return emptyFile
	case size > MostSample:
		return "larger than the 1 GiB that a sample may have"
	}
	return ""
}

// walk gathers in a class folder what it and those below it hold.
func (f *folder) walk(root string) {
	var found []*folder
	links := 0
	for stack := []*folder{f}; len(stack) > 0; {
		f := stack[len(stack)-1]
		if err := f.enter(root, &links); err != nil {
			f.skipped = append(f.skipped, lost(f.path, err))
		}
		found = append(found, f)
		stack = append(stack[:len(stack)-1], f.folders...)
	}
	// As torchvision: folders by their whole path, then files by name.
	slices.SortFunc(found, func(a, b *folder) int { return strings.Compare(a.path, b.path) })
	var images []File
	var skipped []Fault
	for _, f := range found {
		images, skipped = append(images, f.images...), append(skipped, f.skipped...)
	}
	f.images, f.skipped = images, skipped
}

// enter lists a folder, unless a link to it goes too far.
func (f *folder) enter(root string, links *int) (err error) {
	full := filepath.Join(root, filepath.FromSlash(f.path))
	if f.info, err = os.Stat(full); err != nil {
		return err
	}
	switch {
	case f.loops():
		f.skipped = []Fault{{Path: f.path, Reason: "link to a folder that it is in"}}
	case f.linked && *links == mostLinks:
		f.skipped = []Fault{{Path: f.path, Reason: "more linked folders than a class may have", Lost: true}}
	default:
		if f.linked {
			*links++
		}
		return f.list(full)
	}
	return nil
}

// folder is a place in a walk, and what it holds, each kind by name.
type folder struct {
	path    string // relative to the root, with slashes; "" for the root
	info    os.FileInfo
	linked  bool
	parent  *folder
	images  []File
	folders []*folder
	skipped []Fault
}

// loops says whether f is, by device and inode, one of the folders that it is in.
func (f *folder) loops() bool {
	for up := f.parent; up != nil; up = up.parent {
		if os.SameFile(f.info, up.info) {
			return true
		}
	}
	return false
}

// list finds what the folder, at full, holds: all that could be listed before an error.
// Files that are not images by their names are counted, since there may be one for each
// image.
func (f *folder) list(full string) error {
	entries, err := os.ReadDir(full)
	others := 0
	for _, e := range entries {
		name, rel := e.Name(), e.Name()
		if f.path != "" {
			rel = f.path + "/" + name
		}
		link := e.Type()&fs.ModeSymlink != 0
		switch {
		case hidden(name):
			f.skipped = append(f.skipped, Fault{Path: rel, Reason: isHidden})
		case rel == InfoName:
		case e.IsDir():
			f.folders = append(f.folders, &folder{path: rel, parent: f})
		case !link && !isImage(name):
			others++
		default:
			info, err := e.Info()
			if link {
				info, err = os.Stat(filepath.Join(full, name))
			}
			switch {
			case err != nil:
				f.skipped = append(f.skipped, lost(rel, err))
			case info.IsDir():
				f.folders = append(f.folders, &folder{path: rel, parent: f, linked: link})
			case !isImage(name):
				others++
			default:
				f.image(rel, full, info)
			}
		}
	}
	if others > 0 {
		why := fmt.Sprintf("files whose names are not those of images: %d", others)
		f.skipped = append(f.skipped, Fault{Path: path.Join(".", f.path), Reason: why})
	}
	slices.SortFunc(f.skipped, func(a, b Fault) int { return strings.Compare(a.Path, b.Path) })
	return err
}

func (f *folder) image(rel, full string, info os.FileInfo) {
	if why := unfit(info.Mode(), info.Size()); why != "" {
		f.skipped = append(f.skipped, Fault{Path: rel, Reason: why, Lost: true})
		return
	}
	if info.Mode().Perm()&0o444 != 0o444 { // readable by somebody else, perhaps
		file, err := os.Open(filepath.Join(full, path.Base(rel)))
		if err != nil {
			f.skipped = append(f.skipped, lost(rel, err))
			return
		}
		file.Close()
	}
	f.images = append(f.images, File{Path: rel, Size: info.Size()})
}
