package pcie

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/results"
)

// demand is what a device's cases need: hosts buffers of the largest copy in host
// memory, and deviceBuffers of it on the device.
type demand struct {
	device  cuda.Info
	largest int64
	hosts   int64
}

const (
	deviceBuffers = 3 // on a device: in, out, and what copies beside them
	simBuffers    = 2
	mostHosts     = 12       // host buffers of a device with every kind of case
	memoryReserve = 64 << 20 // for the program itself
)

// hostBuffers counts the host buffers that cases of a device share: one of each kind of
// memory, direction and NUMA node, one that checks or whose page-locking is measured,
// and one for each of the others that copy beside it. A stand-in keeps what is "on the
// device" in host memory, too.
func hostBuffers(points []params, d cuda.Info, others int) int64 {
	kinds := map[string]bool{"check": true}
	besides := 0
	if !d.Assumed {
		kinds["pinned"+results.H2D] = true // what is copied while the link is read
	}
	for _, p := range points {
		mem, node := p.Mem, p.NUMA
		if node == results.NUMALocal {
			node = ""
		}
		if mem == results.Staged { // from a pageable buffer into a pinned one
			kinds["pageable"+results.H2D+node] = true
			mem = "pinned"
		}
		kinds[mem+p.Dir+node] = true
		switch p.Concurrent {
		case results.ConcurrentOpposite:
			besides = max(besides, 1)
		case results.ConcurrentDevices:
			besides = max(besides, others)
		}
	}
	n := int64(len(kinds) + besides)
	if d.Assumed {
		n += simBuffers
	}
	return n
}

// roomFor is the largest copy of which this host can hold so many buffers, and the
// device its own. What is not known does not limit it.
func roomFor(env bench.Env, d cuda.Info, hosts int64) int64 {
	room := int64(math.MaxInt64)
	if have := env.Host.Memory.Available; have > 0 {
		room = max(0, have-memoryReserve-int64(newEvictor(env.Host.CPU.LastCache).size)) / hosts
	}
	if d.Free > 0 {
		room = min(room, d.Free/deviceBuffers)
	}
	return room
}

// fits refuses, before anything is allocated, cases whose buffers this host or a
// device cannot hold.
func fits(env bench.Env, need []demand) error {
	flag, value := "--batch", strconv.Itoa(env.Batch.Images)
	if len(env.Axes["bytes"]) > 0 {
		flag, value = "-a", "bytes="+strings.Join(env.Axes["bytes"], ",")
	}
	refuse := func(n, room int64, where string, buffers int64) error {
		return &bench.UsageError{Flag: flag, Value: value, Want: fmt.Sprintf("copies of %s need %s for their buffers; %s %s free, enough for copies of %s",
			results.FormatBytes(n), results.FormatBytes(buffers*n), where, results.FormatBytes(buffers*room), results.FormatBytes(room))}
	}
	for _, d := range need {
		if room := roomFor(env, cuda.Info{}, d.hosts); d.largest > room {
			return refuse(d.largest, room, "this host has", d.hosts)
		}
		if room := roomFor(env, d.device, d.hosts); d.largest > room {
			return refuse(d.largest, room, d.device.Spec+" has", deviceBuffers)
		}
	}
	return nil
}
