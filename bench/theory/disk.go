package theory

// Disk is a storage device by its sequential peak.
type Disk struct {
	Name string
	Rate float64 // B/s
}

// Sequential peaks of claim A10, in B/s: the SATA3 interface, and an M.2 drive over
// PCI Express.
const (
	SATA3Rate = 600e6
	NVMeRate  = 3.4e9
)

// Disks are the article's hard disk (claim A9) and the peaks of claim A10.
var Disks = []Disk{
	{"hard disk, streaming", ArticleDiskRate},
	{"SATA3 SSD", SATA3Rate},
	{"NVMe SSD", NVMeRate},
}
