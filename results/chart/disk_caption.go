package chart

import (
	"cmp"
	"strings"

	"dlbench/results"
)

// diskCaptions are captions with the disk in place of the GPUs.
func diskCaptions(reports []*results.Report) [][]string {
	all := make([][]string, len(reports))
	for i, r := range reports {
		all[i] = captions(reports, cmp.Or(clean(r.Config.DType), "float32"))[i]
		all[i][1] = diskTitle(r.Host.Disks)
	}
	return all
}

// diskTitle says what holds the data: "nvme0n1 Samsung SSD 990 PRO, nvme, Gen4 x4,
// ext4".
func diskTitle(disks []results.Disk) string {
	if len(disks) == 0 {
		return "disk unknown"
	}
	d := disks[0]
	kind := clean(d.Kind)
	switch kind {
	case results.DiskSpinning:
		kind = "hard disk"
	case results.DiskUnknown, "":
		kind = "kind unknown"
	}
	parts := []string{strings.TrimSpace("disk " + results.Clip(clean(d.Name), maxDevice) + " " + results.Clip(clean(d.Model), maxModel)), kind}
	if link := clean(d.Link); link != "" && link != "unknown" {
		parts = append(parts, results.Clip(link, maxDevice))
	}
	parts = append(parts, cmp.Or(results.Clip(clean(d.FileSystem), maxDevice), "file system unknown"))
	return strings.Join(parts, ", ")
}
