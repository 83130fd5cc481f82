// Command pack writes folders as archives that are the same, byte for byte, wherever
// and whenever they are made: sorted, of one time, without owners.
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	at := flag.Int64("time", 0, "modification time of all files, Unix seconds")
	flag.Parse()
	err := errors.New("want ARCHIVE FOLDER")
	if flag.NArg() == 2 {
		err = pack(flag.Arg(0), flag.Arg(1), time.Unix(*at, 0).UTC())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// archive is a format: add a regular file, and close.
type archive interface {
	add(name string, mode fs.FileMode, size int64, content io.Reader) error
	Close() error
}

// pack writes the regular files of dir, under its base name, to an archive whose name
// tells the format: .tar.gz or .zip. Other kinds of files are an error.
func pack(to, dir string, at time.Time) (err error) {
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var a archive
	switch {
	case strings.HasSuffix(to, ".tar.gz"):
		a = newTarball(f, at)
	case strings.HasSuffix(to, ".zip"):
		a = &zipped{zip.NewWriter(f), at}
	default:
		return fmt.Errorf("%s: want a name that ends in .tar.gz or .zip", to)
	}
	// WalkDir goes in lexical order.
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s: no regular file", p)
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		return addFile(a, p, path.Join(filepath.Base(dir), filepath.ToSlash(rel)))
	})
	return errors.Join(err, a.Close())
}

func addFile(a archive, p, name string) error {
	in, err := os.Open(p)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o100 != 0 {
		mode = 0o755
	}
	return a.add(name, mode, info.Size(), in)
}

type tarball struct {
	tar *tar.Writer
	gz  *gzip.Writer
	at  time.Time
}

func newTarball(w io.Writer, at time.Time) *tarball {
	gz, _ := gzip.NewWriterLevel(w, gzip.BestCompression) // a level that there is
	return &tarball{tar.NewWriter(gz), gz, at}
}

func (t *tarball) add(name string, mode fs.FileMode, size int64, content io.Reader) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(mode), Size: size, ModTime: t.at,
		Format: tar.FormatUSTAR}
	if err := t.tar.WriteHeader(h); err != nil {
		return err
	}
	_, err := io.Copy(t.tar, content)
	return err
}

func (t *tarball) Close() error { return errors.Join(t.tar.Close(), t.gz.Close()) }

type zipped struct {
	*zip.Writer
	at time.Time
}

func (z *zipped) add(name string, mode fs.FileMode, _ int64, content io.Reader) error {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: z.at}
	h.SetMode(mode)
	w, err := z.CreateHeader(h)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, content)
	return err
}
