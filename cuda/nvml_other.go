//go:build !linux || !(amd64 || arm64) || nocuda || gorgonia

package cuda

// NVML is NVIDIA's management library, which this build does not open: it is for another
// platform, or what it calls was linked.
type NVML struct{}

// OpenNVML fails.
func OpenNVML() (*NVML, error) { return nil, errNoNVML }

// Link fails.
func (*NVML) Link(string) (PCIe, error) { return PCIe{}, errNoNVML }

// Confidential is false.
func (*NVML) Confidential() bool { return false }
