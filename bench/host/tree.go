package host

import (
	"bufio"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dlbench/results"
)

// tree is a folder of a file system that looks like Linux, most often its root: "/"
// on a real machine, a folder of fixtures in tests. Its methods take slash-separated
// paths below it and never fail: what cannot be read is empty.
type tree string

func (t tree) path(name string) string { return filepath.Join(string(t), filepath.FromSlash(name)) }

// base is the folder's own name.
func (t tree) base() string { return filepath.Base(string(t)) }

// text returns the file's content without surrounding white space and NULs (the
// device tree ends its words with one).
func (t tree) text(name string) string {
	b, _ := os.ReadFile(t.path(name)) // what came before an error is good
	return strings.Trim(string(b), " \t\r\n\x00")
}

// index reads the number of a node or a socket; ok is false for anything else, such as
// the -1 of a kernel that does not know it.
func (t tree) index(name string) (n int, ok bool) {
	n, err := strconv.Atoi(t.text(name))
	return n, err == nil && n >= 0
}

// positive reads a number, 0 for one that is not positive or cannot be read.
func (t tree) positive(name string) int64 { return positive(t.text(name)) }

// counter reads the number after a key, as in cpu.stat; 0 for one that is not positive
// or not there.
func (t tree) counter(name, key string) int64 { return positive(t.after(name, key+" ")) }

// positive is the number that s is, 0 for one that is not positive and for other text.
// One above 2^52 is no size and no count: version 1 of cgroups writes no limit so.
func positive(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 53)
	if err != nil {
		return 0
	}
	return max(n, 0)
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

// after returns what follows prefix, and a colon after it, on the first line that begins
// with it. It reads no further: the whole of cpuinfo takes milliseconds on large machines.
func (t tree) after(name, prefix string) string {
	f, err := os.Open(t.path(name))
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if s, ok := strings.CutPrefix(lines.Text(), prefix); ok {
			return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s), ":"))
		}
	}
	return ""
}

// chosen returns the word in brackets of a list such as "always [madvise] never", or
// the only word; "" without one.
func (t tree) chosen(name string) string {
	words := strings.Fields(t.text(name))
	for _, word := range words {
		if len(words) == 1 || strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]") {
			return printable(strings.Trim(word, "[]"))
		}
	}
	return ""
}

// printable cuts text that a device gives to what a report can show.
func printable(s string) string { return results.Words(s, 64) }

// maxCPU bounds the numbers in a list, so that a garbled one costs no memory.
// Linux builds allow 8192 CPUs at most.
const maxCPU = 1<<16 - 1

// list reads a kernel's list of CPUs or nodes.
func (t tree) list(name string) []int { return parseList(t.text(name)) }

// parseList reads "0-3,8" in ascending order. It returns nil for an empty list and
// for one that is not well formed.
func parseList(s string) (list []int) {
	for part := range strings.SplitSeq(strings.TrimSpace(s), ",") {
		first, last, _ := strings.Cut(part, "-")
		lo, err := strconv.Atoi(first)
		hi, err2 := strconv.Atoi(cmp.Or(last, first))
		if err != nil || err2 != nil || hi < lo || hi > maxCPU {
			return nil
		}
		for n := lo; n <= hi; n++ {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
