package loader

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// folder is a place in a walk.
type folder struct {
	path   string // relative to the root, with slashes; "" for the root
	info   os.FileInfo
	linked bool
	parent *folder
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

// listing is what a folder holds.
type listing struct {
	self    *folder
	images  []File
	folders []string // names, of links to folders too
	links   []string // those of folders that are links
	skipped []Skipped
	err     error // the listing may be incomplete
}

func (l *listing) sort() {
	slices.SortFunc(l.images, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(l.skipped, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
}

// skip notes a sample that is lost.
func (l *listing) skip(name, why string) {
	l.skipped = append(l.skipped, Skipped{Path: name, Reason: why, Lost: true})
}

// pass notes what is no sample and was not meant to be one.
func (l *listing) pass(name, why string) {
	l.skipped = append(l.skipped, Skipped{Path: name, Reason: why})
}

// listFolder lists the folder self, at full. Files that are not images by their
// names are counted, since there may be one for each image.
func listFolder(full string, self *folder) *listing {
	l := &listing{self: self}
	dir, err := os.Open(full)
	if err != nil {
		l.err = err
		return l
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	l.err = err
	others := 0
	for _, e := range entries {
		name := e.Name()
		rel := path.Join(self.path, name)
		if hidden(name) {
			l.pass(rel, "hidden")
			continue
		}
		if rel == InfoName {
			continue
		}
		mode, size := e.Type(), int64(0)
		if !mode.IsDir() {
			link := mode&fs.ModeSymlink != 0
			if !link && !isImage(name) {
				others++
				continue
			}
			if mode, size, err = statAt(dir, full, name); err != nil {
				l.skip(rel, reason(err))
				continue
			}
			if link && mode.IsDir() {
				l.links = append(l.links, name)
			}
		}
		if mode.IsDir() {
			l.folders = append(l.folders, name)
			continue
		}
		if !isImage(name) {
			others++
			continue
		}
		why := unfit(mode, size)
		if why == "" && mode.Perm()&0o444 != 0o444 && !readable(dir, full, name) {
			why = "no permission to read it"
		}
		if why != "" {
			l.skip(rel, why)
			continue
		}
		l.images = append(l.images, File{Path: rel, Size: size})
	}
	if others > 0 {
		at := self.path
		if at == "" {
			at = "."
		}
		l.pass(at, fmt.Sprintf("%d files that are not images by their names", others))
	}
	return l
}

// reason is what to say about a file that could not be looked at: the cause,
// without the path that a PathError repeats.
func reason(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "dangling link, or removed meanwhile"
	}
	if errors.Is(err, fs.ErrPermission) {
		return "no permission to read it"
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return err.Error()
}
