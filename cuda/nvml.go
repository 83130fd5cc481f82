package cuda

import "errors"

// PCIe is what NVML tells of a GPU's own link: generations and lanes, now and at most
// in this slot. It sees no hop above.
type PCIe struct{ Gen, Width, MaxGen, MaxWidth int }

// errNoNVML says that NVIDIA's management library is not here, which is no failure.
var errNoNVML = errors.New("no NVML")
