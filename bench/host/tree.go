package host

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// tree is the root of a file system that looks like Linux: "/" on a real
// machine, a folder of fixtures in tests. Its methods take slash-separated paths
// below the root and never fail: what cannot be read is empty.
type tree string

// maxFile bounds what is read of one file. /proc/cpuinfo of a machine with 1024
// CPUs has about 2 MB.
const maxFile = 16 << 20

func (t tree) path(name string) string { return filepath.Join(string(t), filepath.FromSlash(name)) }

// text returns the file's content without surrounding white space and NULs (the
// device tree ends its words with one).
func (t tree) text(name string) string { return strings.Trim(t.head(name, maxFile), " \t\r\n\x00") }

// head returns the first n bytes of the file, or all of a shorter one.
func (t tree) head(name string, n int64) string {
	f, err := os.Open(t.path(name))
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, n)) // what came before an error is good
	return string(b)
}

// number reads a decimal number; ok is false if the file holds anything else.
func (t tree) number(name string) (n int64, ok bool) {
	n, err := strconv.ParseInt(t.text(name), 10, 64)
	return n, err == nil
}

func (t tree) exists(name string) bool {
	_, err := os.Stat(t.path(name))
	return err == nil
}

// names lists a folder in order, nil if it cannot be read.
func (t tree) names(name string) []string {
	entries, _ := os.ReadDir(t.path(name))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// pairs reads lines of "key value" or "key: value unit", as in cpu.stat and
// meminfo; lines without a whole number are left out.
func (t tree) pairs(name string) map[string]int64 {
	m := map[string]int64{}
	for line := range strings.Lines(t.text(name)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		if n, err := strconv.ParseInt(f[1], 10, 64); err == nil {
			m[strings.TrimSuffix(f[0], ":")] = n
		}
	}
	return m
}
