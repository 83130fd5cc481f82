package theory

// Band of measurements that others published.
type Published struct {
	Link   Link
	Mem    string // pinned or pageable
	Lo, Hi float64
}

// PublishedSource says where Published figures come from.
const PublishedSource = "published host-to-device measurements (nvbandwidth and bandwidthTest outputs in vendors' and users' reports)"

var published = []Published{
	{Link{3, 16}, "pinned", 10e9, 13.1e9},
	{Link{4, 4}, "pinned", 6.6e9, 6.7e9},
	{Link{4, 16}, "pinned", 23.9e9, 26e9},
	{Link{5, 16}, "pinned", 55e9, 57e9},
	{Link{3, 16}, "pageable", 5e9, 6e9},
	{Link{4, 16}, "pageable", 12.9e9, 18.4e9},
}

// PublishedBand is the range of host-to-device bandwidths that others measured
// over l with that kind of memory; ok is false where none is known.
func PublishedBand(l Link, mem string) (p Published, ok bool) {
	for _, p := range published {
		if p.Link == l && p.Mem == mem {
			return p, true
		}
	}
	return Published{}, false
}

// Shares of the line rate that an assumed link is given unless told otherwise:
// about the middle of what is published (pinned 0.63-0.91, pageable 0.32-0.58).
const (
	AssumedPinned   = 0.80
	AssumedPageable = 0.40
)
