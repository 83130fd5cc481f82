package loader

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// imageExtensions are those of torchvision's ImageFolder, in any case.
var imageExtensions = []string{".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"}

func isImage(name string) bool {
	return slices.Contains(imageExtensions, strings.ToLower(path.Ext(name)))
}

// mostLinks bounds how many linked folders a class may have: folders that link to
// each other could multiply without end even though no path is a loop.
const mostLinks = 4096

// openFiles reads a folder of class folders as torchvision's ImageFolder does: the
// sorted names of the folders are the classes, images are found by extension at any
// depth, links are followed. Other than torchvision it passes over hidden files and
// folders, keeps empty class folders as classes (as its allow_empty), and takes a
// folder of images without class folders, all with label -1.
func (s *Set) openFiles(only string) error {
	if only != "" {
		return s.openImage(only)
	}
	return s.walk(scanners)
}

// openImage makes a set of one file.
func (s *Set) openImage(name string) error {
	info, err := os.Stat(filepath.Join(s.Root, name))
	if err != nil {
		return err
	}
	if why := unfit(info.Mode(), info.Size()); why != "" {
		s.skip(name, 0, "%s", why)
		return nil
	}
	s.addImage(File{name, info.Size()}, -1)
	return nil
}

func (s *Set) walk(scanners int) error {
	info, err := os.Stat(s.Root)
	if err != nil {
		return err
	}
	top := listFolder(s.Root, &folder{info: info})
	if top.err != nil {
		return top.err
	}
	slices.Sort(top.folders)
	classes := make([]class, len(top.folders))
	inParallel(len(classes), scanners, func(i int) { classes[i].walk(s.Root, top.folders[i], top.self) })

	images := 0
	for i := range classes {
		images += len(classes[i].images)
	}
	if images == 0 {
		top.sort()
		for _, f := range top.images {
			s.addImage(f, -1)
		}
		s.Skipped = append(s.Skipped, top.skipped...)
		for i := range classes {
			s.Skipped = append(s.Skipped, classes[i].skipped...)
		}
		return nil
	}
	s.Skipped = append(s.Skipped, top.skipped...)
	if n := len(top.images); n > 0 {
		s.pass(".", "%d images beside the class folders", n)
	}
	s.Files, s.Samples = make([]File, 0, images), make([]Sample, 0, images)
	for i, c := range classes {
		for _, f := range c.images {
			s.addImage(f, int32(i))
		}
		s.Skipped = append(s.Skipped, c.skipped...)
		if len(c.images) == 0 {
			s.pass(top.folders[i], "class folder without images")
		}
	}
	s.Classes = top.folders
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
		return "empty file"
	case size > MostSample:
		return "larger than the 1 GiB that a sample may have"
	}
	return ""
}

// class collects a class folder.
type class struct {
	images  []File
	skipped []Skipped
}

func (c *class) walk(root, name string, top *folder) {
	found := []*listing{}
	links := 0
	stack := []*folder{{path: name, parent: top}}
	for len(stack) > 0 {
		f := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		full := filepath.Join(root, filepath.FromSlash(f.path))
		var err error
		if f.info, err = os.Stat(full); err != nil {
			c.skipped = append(c.skipped, Skipped{Path: f.path, Reason: reason(err), Lost: true})
			continue
		}
		if f.loops() {
			c.skipped = append(c.skipped, Skipped{Path: f.path, Reason: "link to a folder that it is in"})
			continue
		}
		if f.linked {
			if links++; links > mostLinks {
				c.skipped = append(c.skipped, Skipped{Path: f.path, Reason: "more linked folders than a class may have", Lost: true})
				continue
			}
		}
		l := listFolder(full, f)
		if l.err != nil {
			l.skipped = append(l.skipped, Skipped{Path: f.path, Reason: reason(l.err), Lost: true})
		}
		found = append(found, l)
		for _, sub := range l.folders {
			stack = append(stack, &folder{path: path.Join(f.path, sub), parent: f, linked: slices.Contains(l.links, sub)})
		}
	}
	// As torchvision: folders by their whole path, then files by name.
	slices.SortFunc(found, func(a, b *listing) int { return strings.Compare(a.self.path, b.self.path) })
	for _, l := range found {
		l.sort()
		c.images = append(c.images, l.images...)
		c.skipped = append(c.skipped, l.skipped...)
	}
}
