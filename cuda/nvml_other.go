//go:build !linux || !(amd64 || arm64) || nocuda || gorgonia

package cuda

import "dlbench/bench/theory"

// NVML is NVIDIA's management library, which this build does not open: it is for another
// platform, or what it calls was linked.
type NVML struct{}

// OpenNVML returns nil.
func OpenNVML() *NVML { return nil }

// Link knows no link.
func (*NVML) Link(string) (now, most theory.Link, ok bool) { return now, most, false }

// Confidential is false.
func (*NVML) Confidential() bool { return false }

// OpenGauge opens none.
func OpenGauge(string) (g Gauge, lacks string) { return nil, "this build of dlbench opens no NVML" }
