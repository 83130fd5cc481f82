package theory

// Disk is a storage device by its sequential peak.
type Disk struct {
	Name string
	Rate float64 // B/s
}

// Disks are the article's hard disk (claim A9) and the peaks of claim A10: a
// SATA3 interface and an M.2 drive over PCI Express.
var Disks = []Disk{
	{"hard disk, streaming", ArticleDiskRate},
	{"SATA3 SSD", 600e6},
	{"NVMe SSD", 3.4e9},
}
