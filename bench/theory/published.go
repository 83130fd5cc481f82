package theory

// Published is a band of bandwidths, in B/s, that others measured over a link.
type Published struct {
	Link   Link
	Mem    string // pinned or pageable
	Lo, Hi float64
}

// PublishedSource is where the figures of PublishedBand come from, for reports.
const PublishedSource = "host-to-device bandwidths that users and vendors reported from bandwidthTest and " +
	"nvbandwidth, collected for plausibility"

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

// Shares of the line rate that a simulated link is given where the user names no rate:
// round numbers within what is published over generations 3 to 5, pinned and pageable. Over
// one link it may be another share.
const (
	AssumedPinned   = 0.80
	AssumedPageable = 0.40
	publishedShares = "0.63-0.90 and 0.32-0.58"
)
