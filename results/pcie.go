package results

import "dlbench/bench/theory"

// PCIeParams is the parameters of a case of the pcie suite: copies between host memory and a
// device.
type PCIeParams struct {
	Device     string `json:"device"`
	Dir        string `json:"dir"`
	Mem        string `json:"mem"`
	DType      string `json:"dtype"`
	Source     string `json:"source,omitempty"`
	Concurrent string `json:"concurrent,omitempty"` // "" in host memory
	NUMA       string `json:"numa,omitempty"`       // "" where there is one node only
	Bytes      int64  `json:"bytes"`                // of a copy
}

// PCIeProof is the evidence of a case of the pcie suite.
type PCIeProof struct {
	BytesVerified bool   `json:"bytes_verified,omitempty"` // what arrived is what was sent
	DeviceName    string `json:"device_name,omitempty"`
	// bytes of the buffer that emptied the caches; 0 where none did
	EvictedWith *int   `json:"evicted_with,omitempty"`
	Parts       string `json:"parts,omitempty"` // which parts of a copy are measured, and which simulated

	Link          string `json:"link,omitempty"` // while copying: gen3x16
	LinkSource    string `json:"link_source,omitempty"`
	LinkReads     *int   `json:"link_reads,omitempty"`
	LinkBefore    string `json:"link_before,omitempty"`
	LinkAfter     string `json:"link_after,omitempty"`
	LinkState     string `json:"link_state,omitempty"` // of a link that is not known
	LinkNarrowest string `json:"link_narrowest,omitempty"`
	LinkReal      string `json:"link_real,omitempty"` // under a loaded one
	LoadedLink

	NUMANode       *OrUnknown[int]            `json:"numa_node,omitempty"` // of the device
	CPUs           []int                      `json:"cpus,omitempty"`      // of the thread that copies
	CopiedFromNode *OrUnknown[int]            `json:"copied_from_node,omitempty"`
	HugePages      *OrUnknown[float64]        `json:"huge_pages,omitempty"`    // share of the host's buffer
	PagesByNode    *OrUnknown[map[string]int] `json:"pages_by_node,omitempty"` // of that buffer
	MIG            string                     `json:"mig,omitempty"`
	Watched

	Groups        *int `json:"groups,omitempty"` // of copies behind a blocker
	GroupsWithGap *int `json:"groups_with_gap,omitempty"`

	NormalisedImages int      `json:"normalised_images_verified,omitempty"`
	Background       []string `json:"beside,omitempty"` // what copied at the same time: device and direction
	BackgroundCopies *int64   `json:"beside_copies,omitempty"`
	SamplesWithGap   *int     `json:"samples_with_gap,omitempty"` // in which that stood still at times
}

// LinkTitle is the link while copying in words, Gen3 x16, "" where it is not known.
func (p PCIeProof) LinkTitle() string {
	l, err := theory.ParseLink(p.Link)
	if err != nil {
		return ""
	}
	return l.Title()
}

// LoadedLink is how a real link was made as slow as another one.
type LoadedLink struct {
	TimeLoaded  *TimeLoaded `json:"link_time_loaded,omitempty"`
	MemoryReads string      `json:"memory_reads,omitempty"`
}

// TimeLoaded is a copy over a loaded link; times in s.
type TimeLoaded struct {
	Target       float64  `json:"target"`
	Real         float64  `json:"real"` // of the bytes alone
	Achieved     *float64 `json:"achieved,omitempty"`
	Copies       int      `json:"copies"` // whole ones
	RestBytes    int      `json:"rest_bytes"`
	BytesCarried int64    `json:"bytes_carried"`
}

// Values of the axes of the pcie suite that code refers to.
const (
	H2D, D2H, H2H          = "h2d", "d2h", "h2h"
	Staged, Bounce         = "staged", "bounce"
	SourceWarm, SourceCold = "warm", "cold"
	HostDevice             = "host"

	ConcurrentNone, ConcurrentOpposite, ConcurrentDevices = "none", "opposite", "devices"
	NUMALocal, NUMARemote                                 = "local", "remote"
)

// Cold reports whether the source is evicted from the CPU's caches before each copy.
func (p PCIeParams) Cold() bool { return p.Source == SourceCold }

// Alone reports whether nothing else copies meanwhile.
func (p PCIeParams) Alone() bool { return p.Concurrent == "" || p.Concurrent == ConcurrentNone }

// Undisturbed reports whether nothing else copies, and the memory is the device's own
// node's.
func (p PCIeParams) Undisturbed() bool { return p.Alone() && p.NUMA != NUMARemote }
