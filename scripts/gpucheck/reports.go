package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"dlbench/results"
)

// mostRounds is more than gpu-check.sh does.
const mostRounds = 99

// readRounds reads the rounds from 1. One that left no report has no rates.
func readRounds(read func(round int) (rates, error)) (rounds []rates, err error) {
	for n := 1; n <= mostRounds; n++ {
		r, err := read(n)
		if errors.Is(err, fs.ErrNotExist) {
			r, err = nil, nil
		}
		if err != nil {
			return nil, err
		}
		rounds = append(rounds, r)
	}
	return rounds, nil
}

// readDlbench reads the copies of a device from a report: those that are ok, and that a
// peer makes, too: beside no others, and from the device's own NUMA node.
func readDlbench(path, device string) (rates, error) {
	var report struct {
		Results []struct {
			Status string
			Params struct {
				Device, Dir, Mem, Concurrent, NUMA string

				Bytes int64
			}
			Metrics []struct {
				Name   string
				Median float64
			}
		}
	}
	if err := readJSON(path, &report); err != nil {
		return nil, err
	}
	r := rates{}
	for _, c := range report.Results {
		if c.Status != "ok" || c.Params.Device != device || cmp.Or(c.Params.Concurrent, "none") != "none" || c.Params.NUMA == "remote" {
			continue
		}
		for _, m := range c.Metrics {
			if m.Name == "bandwidth" {
				r[copied{c.Params.Bytes, c.Params.Dir, c.Params.Mem}] = m.Median
			}
		}
	}
	return r, nil
}

// readPeer reads the peer's rounds: nvbandwidth-ROUND-MIB.json or torch-ROUND.json.
func readPeer(dir, peer string, device int) ([]rates, error) {
	switch peer {
	case "torch":
		return readRounds(func(round int) (rates, error) {
			return readTorch(filepath.Join(dir, fmt.Sprintf("torch-%d.json", round)))
		})
	case "nvbandwidth":
		return readRounds(func(round int) (rates, error) {
			all := rates{}
			prefix := fmt.Sprintf("nvbandwidth-%d-", round)
			files, err := fs.Glob(os.DirFS(dir), prefix+"*.json")
			for _, f := range files {
				mib, perr := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(f, prefix), ".json"), 10, 64)
				if perr != nil {
					return nil, fmt.Errorf("%s: want nvbandwidth-ROUND-MIB.json", f)
				}
				if err := readNvbandwidth(all, filepath.Join(dir, f), mib<<20, device); err != nil {
					return nil, err
				}
			}
			return all, err
		})
	}
	return nil, nil
}

// nvbandwidthTests are those whose matrix has one row, the host, and a column a GPU.
var nvbandwidthTests = map[string]string{"host_to_device_memcpy_ce": "h2d", "device_to_host_memcpy_ce": "d2h"}

// readNvbandwidth adds the rates of a report (nvbandwidth -j): of page-locked memory,
// in 10^9 B/s.
func readNvbandwidth(into rates, path string, size int64, device int) error {
	var report struct {
		Nvbandwidth struct {
			Error     string
			Testcases []struct {
				Name, Status string
				Matrix       [][]string `json:"bandwidth_matrix"`
			}
		}
	}
	if err := readJSON(path, &report); err != nil {
		return err
	}
	if e := report.Nvbandwidth.Error; e != "" {
		return fmt.Errorf("%s: nvbandwidth: %s", path, e)
	}
	for _, t := range report.Nvbandwidth.Testcases {
		dir := nvbandwidthTests[t.Name]
		if dir == "" {
			continue
		}
		if t.Status != "Passed" || len(t.Matrix) != 1 || device >= len(t.Matrix[0]) {
			return fmt.Errorf("%s: %s: status %q, no figure for GPU %d", path, t.Name, t.Status, device)
		}
		v, err := strconv.ParseFloat(t.Matrix[0][device], 64)
		if err != nil || v <= 0 {
			return fmt.Errorf("%s: %s: bandwidth %q", path, t.Name, t.Matrix[0][device])
		}
		into[copied{size, dir, "pinned"}] = 1e9 * v
	}
	return nil
}

// readTorch reads what torchcopy.py prints.
func readTorch(path string) (rates, error) {
	var copies []struct {
		Bytes    int64
		Dir, Mem string
		Rates    []float64 // B/s
	}
	if err := readJSON(path, &copies); err != nil {
		return nil, err
	}
	r := rates{}
	for _, c := range copies {
		if len(c.Rates) > 0 {
			r[copied{c.Bytes, c.Dir, c.Mem}] = results.Median(c.Rates)
		}
	}
	return r, nil
}

// readJSON skips notes before the first brace or bracket.
func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if i := bytes.IndexAny(text, "{["); i > 0 {
		text = text[i:]
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
