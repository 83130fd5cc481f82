//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// peer is one way to preprocess, on a number of cores.
type peer struct {
	name    string
	cores   int
	command []string
	env     []string // added to this process's
}

// known are the names of peers, as tables list them. The first that is measured is
// what the others are compared with.
var known = []string{"dlbench-turbo", "dlbench-go", "torchvision-pil", "torchvision-io",
	"opencv-linear", "opencv-area", "opencv-lut", "pillow-decode", "opencv-decode"}

const (
	own        = "dlbench-" // and a decoder: a worker of this binary
	decodeOnly = "-decode"  // ends names of peers that only decode
)

// pythonEnv is what libraries below numpy and torch read when they are loaded, and glibc:
// it keeps freed memory, as it does by itself in a process that has freed a batch of
// 19 MB once, which every training process has. Left alone, peers that free nothing
// larger than an image gave it back to the kernel after each, 250 page faults an image:
// opencv-decode made 538 images per CPU second instead of 875, opencv-lut 490 instead of
// 717.
var pythonEnv = []string{"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1",
	"PYTHONDONTWRITEBYTECODE=1",
	"MALLOC_MMAP_THRESHOLD_=33554432", "MALLOC_TRIM_THRESHOLD_=134217728"}

func (p peer) String() string { return fmt.Sprintf("%s on %d", p.name, p.cores) }

// whole says whether the peer makes samples, and does not only decode.
func (p peer) whole() bool { return !strings.HasSuffix(p.name, decodeOnly) }

// commands are the peers that were asked for, by number of cores.
func commands(o options) ([]peer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var peers []peer
	for _, cores := range o.cores {
		for _, name := range o.peers {
			args := []string{"--cores", strconv.Itoa(cores), "--data", o.data, "--images", strconv.Itoa(o.images)}
			p := peer{name: name, cores: cores}
			if decoder, ok := strings.CutPrefix(name, own); ok {
				p.command = append([]string{self, "--worker", "--decoder", decoder}, args...)
			} else {
				p.command = append([]string{o.python, o.script, "--peer", name}, args...)
				p.env = pythonEnv
			}
			peers = append(peers, p)
		}
	}
	return peers, nil
}
