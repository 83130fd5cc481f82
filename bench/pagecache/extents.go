package pagecache

import "fmt"

// fileAllocation is what of some files a disk must read.
type fileAllocation struct {
	Written    float64 // share of the bytes that were ever written; the rest are holes, which read as zeros without the disk
	Compressed float64 // share of the bytes that are stored compressed; 0 also where unknown
	Method     string  // fiemap, or blocks: what stat counts, in which compression looks like holes
}

// warnings says why such files may read faster than their disk.
func (a fileAllocation) Warnings() []string {
	var w []string
	if a.Written < fromDisk {
		why := "holes, or allocated and never written"
		if a.Method == "blocks" {
			why = "not on the disk: holes, or compressed away"
		}
		w = append(w, fmt.Sprintf("%s of the files' bytes are %s; reading them needs no disk", cachePercent(1-a.Written), why))
	}
	if a.Compressed > 1-fromDisk {
		w = append(w, fmt.Sprintf("%s of the files' bytes are stored compressed: the disk moves fewer than are read", cachePercent(a.Compressed)))
	}
	return w
}
