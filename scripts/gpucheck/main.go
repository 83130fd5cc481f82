// Command gpucheck is the arithmetic of gpu-check.sh: from reports of dlbench and of
// nvbandwidth or PyTorch, run in turn, to a table in Markdown.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize"
)

func main() {
	device := flag.Int("device", 0, "number of the GPU")
	peer := flag.String("peer", "nvbandwidth", "what dlbench is compared with: nvbandwidth, torch, or none")
	flag.Parse()
	err := errors.New("want the folder of the reports")
	if flag.NArg() == 1 {
		err = table(os.Stdout, flag.Arg(0), *peer, *device)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gpucheck:", err)
		os.Exit(1)
	}
}

// copied is what was copied how.
type copied struct {
	bytes    int64
	dir, mem string // h2d or d2h; pinned or pageable
}

// rates are medians in B/s of one run, by what was copied.
type rates map[copied]float64

// programs are the dlbench binaries, by back end: PROGRAM-ROUND/report.json.
var programs = []string{"dlbench", "dlbench-gorgonia"}

// table compares every program's rounds in dir with the peer's of the same round.
func table(w io.Writer, dir, peer string, device int) error {
	if peer != "nvbandwidth" && peer != "torch" && peer != "none" {
		return fmt.Errorf("peer %q: want nvbandwidth, torch or none", peer)
	}
	peers, err := readPeer(dir, peer, device)
	if err != nil {
		return err
	}
	rows := 0
	for _, program := range programs {
		ours, err := readRounds(func(round int) (rates, error) {
			return readDlbench(filepath.Join(dir, fmt.Sprintf("%s-%d", program, round), "report.json"), fmt.Sprintf("cuda:%d", device))
		})
		if err != nil {
			return err
		}
		for _, c := range measured(ours) {
			if rows == 0 {
				heading(w, peer)
			}
			row(w, program, c, ours, peers)
			rows++
		}
	}
	if rows == 0 {
		return fmt.Errorf("%s: no copy was measured", dir)
	}
	if peer == "none" {
		fmt.Fprintln(w, "\nNothing is here to compare with: neither nvbandwidth nor a PyTorch that reaches the GPU.")
		return nil
	}
	fmt.Fprintf(w, "\nMedian of the rounds' ratios, with the least and the greatest. PASS: all are %g or more.\n", ratioLeast)
	return nil
}

func heading(w io.Writer, peer string) {
	if peer == "none" {
		peer = "peer"
	}
	fmt.Fprintf(w, "| program | size | direction | memory | dlbench, GB/s | %s, GB/s | dlbench / %[1]s | verdict |\n", peer)
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- |")
}

func row(w io.Writer, program string, c copied, ours, peers []rates) {
	r := compare(c, ours, peers)
	fmt.Fprintf(w, "| %s | %s | %s | %s | %.2f | ", program, humanize.IBytes(uint64(c.bytes)), c.dir, c.mem, r.ours/1e9)
	if r.rounds == 0 {
		fmt.Fprintln(w, "- | - | no peer |")
		return
	}
	fmt.Fprintf(w, "%.2f | %.3f (%.3f-%.3f) | %s |\n", r.peer/1e9, r.ratio, r.lo, r.hi, r.verdict())
}

// measured lists what any round copied: page-locked memory first, to the device first.
func measured(rounds []rates) []copied {
	var all []copied
	for _, r := range rounds {
		for c := range r {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	rank := func(c copied) int64 {
		n := c.bytes
		if c.dir != "h2d" {
			n += 1 << 50
		}
		if c.mem != "pinned" {
			n += 1 << 51
		}
		return n
	}
	slices.SortFunc(all, func(a, b copied) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}
