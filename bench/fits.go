package bench

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"dlbench/cuda"
	"dlbench/results"
)

// Buffers of the largest copy that a device's cases share, at most: pinned twice
// (one for each direction), pageable twice, registered, the one that checks, and
// one whose page-locking is measured.
const (
	hostBuffers   = 7
	deviceBuffers = 2
	memoryReserve = 64 << 20 // for the program itself; the evicting buffer comes on top
)

// roomFor is the largest copy whose buffers this host and the device can hold.
// What is not known does not limit it.
func roomFor(env Env, d cuda.Info) int64 {
	room := int64(math.MaxInt64)
	if have := env.Host.Memory.Available; have > 0 {
		room = max(0, have-memoryReserve-int64(newEvictor(env.Host.CPU.LastCache).size)) / hostBuffers
	}
	if d.Free > 0 {
		room = min(room, d.Free/deviceBuffers)
	}
	return room
}

// fits refuses, before anything is allocated, cases whose buffers this host or a
// device cannot hold. need is the largest copy of each device in bytes.
func fits(env Env, need []int64, cases []Case) error {
	flag, value := "--batch", strconv.Itoa(env.Batch.Images)
	if len(env.Axes["bytes"]) > 0 {
		flag, value = "-a", "bytes="+strings.Join(env.Axes["bytes"], ",")
	}
	refuse := func(n, room int64, where string, buffers int64) error {
		return &UsageError{flag, value, fmt.Sprintf("copies of %s need %s for their buffers; %s %s free, enough for copies of %s",
			results.FormatBytes(n), results.FormatBytes(buffers*n), where, results.FormatBytes(buffers*room), results.FormatBytes(room))}
	}
	if n, room := largest(cases), roomFor(env, cuda.Info{}); n > room {
		return refuse(n, room, "this host has", hostBuffers)
	}
	for i, n := range need {
		info := env.Devices[i].Info()
		if room := roomFor(env, info); n > room {
			return refuse(n, room, info.Spec+" has", deviceBuffers)
		}
	}
	return nil
}
