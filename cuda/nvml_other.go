//go:build !linux || !(amd64 || arm64) || nocuda || gorgonia

package cuda

// NVML is NVIDIA's management library; there is none on this platform.
type NVML struct{}

// OpenNVML fails.
func OpenNVML() (*NVML, error) { return nil, errNoNVML }

// Link fails.
func (*NVML) Link(string) (PCIe, error) { return PCIe{}, errNoNVML }

// Confidential is false.
func (*NVML) Confidential() bool { return false }
