package bench

import (
	"fmt"
	"strconv"

	"dlbench/results"
)

// Buffers of the largest copy that a device's cases share, at most: pinned twice
// (one for each direction), pageable twice, registered, and the one that checks.
const (
	hostBuffers   = 6
	deviceBuffers = 2
	memoryReserve = 64 << 20 // for the program itself
)

// fits refuses, before anything is allocated, cases whose buffers this host or a
// device cannot hold. need is the largest copy of each device in bytes.
func fits(env Env, need []int64, cases []Case) error {
	host := 2 * largest(cases) // copies in host memory
	for _, n := range need {
		host = max(host, hostBuffers*n)
	}
	flag, value := "--batch", strconv.Itoa(env.Batch.Images)
	if len(env.Axes["bytes"]) > 0 {
		flag, value = "-a", "bytes="+fmt.Sprint(env.Axes["bytes"])
	}
	if have := env.Host.Memory.Available - memoryReserve; env.Host.Memory.Available > 0 && host > have {
		return &UsageError{flag, value, fmt.Sprintf("copies of %s need %s of host memory for their buffers; %s is available, enough for copies of %s",
			results.FormatBytes(largest(cases)), results.FormatBytes(host), results.FormatBytes(max(0, have)), results.FormatBytes(max(0, have/hostBuffers)))}
	}
	for i, n := range need {
		info := env.Devices[i].Info()
		if info.Free > 0 && deviceBuffers*n > info.Free {
			return &UsageError{flag, value, fmt.Sprintf("copies of %s need %s on %s; %s is free there",
				results.FormatBytes(n), results.FormatBytes(deviceBuffers*n), info.Spec, results.FormatBytes(info.Free))}
		}
	}
	return nil
}
