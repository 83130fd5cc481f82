package host

import (
	"slices"
	"sync"
)

var usableOnce = sync.OnceValue(usableCPUs)

// UsableCPUs are the CPUs that the scheduler may use for this process, in order. They
// are read once: what the kernel tells is the main thread's affinity, which a worker that
// is pinned may have narrowed later.
func UsableCPUs() []int { return slices.Clone(usableOnce()) }
