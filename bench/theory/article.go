package theory

// ArticleTime is a figure of claim A1 for the article's batch, in seconds.
type ArticleTime struct {
	Theory   float64 // as printed: 1.1, 2.3, 4.5 ms
	Practice float64 // as printed: about 2, 5, 9 ms; its rule of thumb, PCIe is often twice as slow, not a measurement
}

// Article returns claim A1's figures for b over l. They exist for the article's
// batch over Gen3 x4, x8 and x16 alone. Source: "A Full Hardware Guide to Deep
// Learning", the section on PCIe lanes.
func Article(b Batch, l Link) (t ArticleTime, ok bool) {
	t, ok = map[Link]ArticleTime{{3, 16}: {1.1e-3, 2e-3}, {3, 8}: {2.3e-3, 5e-3}, {3, 4}: {4.5e-3, 9e-3}}[l]
	return t, ok && b == ArticleBatch
}

// UnitSlip says in a sentence where claim A1's and A9's theory slips: bytes over as many
// GiB/s as there are lanes, and over 100 MiB/s.
const UnitSlip = "the article takes 1 GiB/s for a Gen3 lane, which carries 0.985 GB/s, " +
	"so its theory is 9 % faster than the link can go"

// Claim A9: a batch of the article from a disk of 100 MB/s.
const (
	ArticleDiskRate = 100e6  // B/s
	ArticleDiskTime = 185e-3 // s, as printed
)
