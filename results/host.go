package results

import (
	"cmp"
	"fmt"
	"strings"

	"dlbench/bench/theory"
)

// Host is the machine of a report. Unknown numbers are 0 or absent, unknown
// words are "" or "unknown". It holds no host or user name.
type Host struct {
	OS             string   `json:"os"`
	Arch           string   `json:"arch"`
	Kernel         string   `json:"kernel,omitempty"`         // 6.1.0-13-amd64
	Distribution   string   `json:"distribution,omitempty"`   // Debian GNU/Linux 12 (bookworm)
	Virtualization string   `json:"virtualization,omitempty"` // none, kvm, vmware, hyperv, xen, wsl2, ...; unknown
	Container      string   `json:"container,omitempty"`      // docker, podman, kubernetes, lxc, ...; "" for none seen
	CPU            CPU      `json:"cpu"`
	Memory         Memory   `json:"memory"`
	GPUs           []GPU    `json:"gpus,omitempty"`
	Disks          []Disk   `json:"disks,omitempty"`
	Notes          []string `json:"notes,omitempty"` // what could not be read, and what that means
}

// CPU describes the processors and the part of them that this process may use.
type CPU struct {
	Model     string `json:"model"`
	Sockets   int    `json:"sockets,omitempty"`
	Cores     int    `json:"cores,omitempty"`   // physical cores online
	Threads   int    `json:"threads,omitempty"` // logical CPUs online
	SMT       bool   `json:"smt,omitempty"`     // more threads than cores
	NUMANodes int    `json:"numa_nodes,omitempty"`
	Affinity  int    `json:"affinity,omitempty"` // CPUs that the scheduler may use for this process
	// CPUs that the cgroups grant, 0.5 for half of one; absent without a limit
	Quota       *float64 `json:"quota,omitempty"`
	Usable      float64  `json:"usable"`                 // min(Affinity, Quota)
	NrThrottled int64    `json:"nr_throttled,omitempty"` // periods in which the quota stopped this cgroup so far
	Governor    string   `json:"governor,omitempty"`     // performance, schedutil, ...; unknown
	Hz          float64  `json:"hz,omitempty"`           // clock of the first usable CPU now, cycles/s
	MaxHz       float64  `json:"max_hz,omitempty"`
	LastCache   int64    `json:"last_cache,omitempty"` // B, the last-level cache that one core reaches
}

// Memory describes main memory, in bytes.
type Memory struct {
	Total     int64  `json:"total"`
	Available int64  `json:"available,omitempty"` // what can be had without swapping, cgroup limit heeded
	Limit     int64  `json:"limit,omitempty"`     // of the cgroups; 0 for none
	BoundBy   string `json:"bound_by,omitempty"`  // the cgroups' file that bounds Available; "" where the host does
	HugePage  int64  `json:"huge_page,omitempty"` // size of a huge page
	THP       string `json:"thp,omitempty"`       // transparent huge pages: always, madvise, never
	MemLock   int64  `json:"mem_lock,omitempty"`  // RLIMIT_MEMLOCK; 0 for unlimited
	ShmFree   int64  `json:"shm_free,omitempty"`  // free bytes of /dev/shm
}

// Where says whose memory Available is: "this host", or the cgroup's by the limit that
// bounds it.
func (m Memory) Where() string {
	if m.BoundBy == "" {
		return "this host"
	}
	return "this cgroup (" + m.BoundBy + ")"
}

// States of a Link.
const (
	LinkKnown   = "known"
	LinkUnknown = "unknown" // no register could be read
	LinkVirtual = "virtual" // the bridges are emulated: their registers say nothing of the wire
	LinkOther   = "other"   // not PCI Express all the way: C2C, NVLink
)

// Link is the path from a device up to its root port. GT/s is per lane.
type Link struct {
	State    string  `json:"state"`
	GTs      float64 `json:"gts,omitempty"`   // the narrowest hop now
	Width    int     `json:"width,omitempty"` // lanes of the narrowest hop now
	MaxGTs   float64 `json:"max_gts,omitempty"`
	MaxWidth int     `json:"max_width,omitempty"`
	Narrow   string  `json:"narrow,omitempty"` // PCI address of the lower end of the narrowest hop
	Hops     []Hop   `json:"hops,omitempty"`   // the device's own first
	Note     string  `json:"note,omitempty"`
}

// Hop is one PCI Express link, as the device at its lower end reports it.
type Hop struct {
	Device   string  `json:"device"`        // 0000:65:00.0
	GTs      float64 `json:"gts,omitempty"` // 0 for "Unknown"
	Width    int     `json:"width,omitempty"`
	MaxGTs   float64 `json:"max_gts,omitempty"`
	MaxWidth int     `json:"max_width,omitempty"`
}

// GPU is one accelerator on the PCI bus.
type GPU struct {
	Index    *int     `json:"index,omitempty"` // CUDA ordinal; absent when CUDA does not see it
	Name     string   `json:"name,omitempty"`
	PCI      string   `json:"pci,omitempty"` // 0000:65:00.0
	Memory   int64    `json:"memory,omitempty"`
	NUMANode *int     `json:"numa_node,omitempty"` // absent when unknown
	Link     Link     `json:"link"`
	Uplink   string   `json:"uplink,omitempty"`      // the highest port below the root complex that others may share
	Shares   []string `json:"shares_with,omitempty"` // PCI addresses of the GPUs behind the same uplink
}

// Kinds of a Disk.
const (
	DiskNVMe     = "nvme"
	DiskSATA     = "sata"     // solid state
	DiskSAS      = "sas"      // solid state
	DiskSpinning = "spinning" // a hard disk, whatever its bus
	DiskUSB      = "usb"
	DiskMMC      = "mmc" // SD cards, eMMC
	DiskVirtio   = "virtio"
	DiskXen      = "xen"
	DiskVirtual  = "virtual" // another hypervisor's: a file or a volume that poses as a disk
	DiskLoop     = "loop"    // a file that serves as a disk
	DiskNetwork  = "network" // also shares of a virtual machine's host
	DiskFUSE     = "fuse"
	DiskMemory   = "memory"
	DiskUnknown  = "unknown"
)

// Whether the page cache decides alone if a read reaches the disk.
const (
	CacheControllable    = "yes"
	CacheNotControllable = "not controllable"
)

// Disk is what holds the files of a folder: a file system and the block devices
// below it. It holds no path, no serial number, no name of a volume, pool or
// server.
type Disk struct {
	// sda, nvme0n1; md0, dm-0 above several devices; none, unknown
	Name string `json:"name"`
	// the whole disks at the bottom, as /sys/class/block names them
	Devices []string `json:"devices,omitempty"`
	Model   string   `json:"model,omitempty"` // of each device, without repetition
	// one of the above; unknown also for devices of several kinds
	Kind string `json:"kind,omitempty"`
	// of older reports; kind says it
	Rotational    *bool    `json:"rotational,omitempty"`
	Size          int64    `json:"size,omitempty"`           // B, of the disk, or of the device above several
	LinkRate      float64  `json:"link_rate,omitempty"`      // B/s after line coding, of all devices together
	Link          string   `json:"link,omitempty"`           // Gen4 x4, SATA 6.0 Gb/s; unknown
	ReadAhead     int64    `json:"read_ahead,omitempty"`     // B, of the device that the file system is on
	Scheduler     string   `json:"scheduler,omitempty"`      // none, mq-deadline, bfq, ...
	LogicalBlock  int64    `json:"logical_block,omitempty"`  // B, direct reads align to it
	PhysicalBlock int64    `json:"physical_block,omitempty"` // B
	FileSystem    string   `json:"file_system,omitempty"`    // ext4, xfs, overlay, ...
	MountOptions  []string `json:"mount_options,omitempty"`  // those that bear on speed
	Free          int64    `json:"free,omitempty"`           // B, for who is not root
	Total         int64    `json:"total,omitempty"`          // B, of the file system
	Cache         string   `json:"cache,omitempty"`          // yes, not controllable; unknown
	CacheReason   string   `json:"cache_reason,omitempty"`   // why not
	Compressed    bool     `json:"compressed,omitempty"`     // the file system compresses files, or may
	Notes         []string `json:"notes,omitempty"`          // what bears on reading from it
}

// Fact is something about a run that bears on its figures.
type Fact struct{ What, Text string }

// Unknown stands in reports and texts for what could not be found out.
const Unknown = "unknown"

// Facts are those of a report, always the same ones in the same order; "" is unknown.
func (r *Report) Facts() []Fact {
	h, c := r.Host, r.Config
	var gpus, links, disks []string
	for _, g := range h.GPUs {
		gpus = append(gpus, g.Name)
		l := g.Link // by what it can do: idle ones are slower
		links = append(links, l.title(cmp.Or(l.MaxGTs, l.GTs), cmp.Or(l.MaxWidth, l.Width)))
	}
	for _, d := range h.Disks {
		disks = append(disks, strings.Join(strings.Fields(d.Model+" "+d.Kind+" "+d.FileSystem+" "+d.Link), " "))
	}
	size := func(n int64) string { return known(n != 0, FormatValue(float64(n), Bytes)) }
	data := ""
	if d := r.Dataset; d != nil {
		data = fmt.Sprintf("%s %d images %s %s", d.Store, d.Images, size(d.Bytes), d.Fingerprint)
		data = strings.Join(strings.Fields(data), " ")
	}
	shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Shape), " ", "x"), "[]")
	build := r.Tool.Version + known(r.Tool.Commit != "", " ("+r.Tool.Commit+")") + known(r.Tool.Dirty, " with changes")
	quick := cmp.Or(known(c.Quick, "yes"), "no")
	all := []Fact{
		{"quick", quick}, {"batch", known(c.Batch > 0, fmt.Sprint(c.Batch))}, {"shape", shape},
		{"dtype", c.DType}, {"data", data},
		{"CPU", h.CPU.Model},
		{"usable CPUs", known(h.CPU.Usable > 0, fmt.Sprintf("%.4g", h.CPU.Usable))}, {"governor", h.CPU.Governor},
		{"memory", size((h.Memory.Total + 1<<25) >> 26 << 26)}, // kernels keep a few MiB more or less for themselves
		{"GPUs", strings.Join(gpus, ", ")}, {"link", strings.Join(links, ", ")},
		{"disk", strings.Join(disks, ", ")},
		{"driver", r.Software.Driver}, {"CUDA back end", r.Software.Backend}, {"decoder", r.Software.Decoder},
		{"system", strings.Trim(h.OS+"/"+h.Arch, "/")}, {"kernel", h.Kernel}, {"distribution", h.Distribution},
		{"virtualization", h.Virtualization}, {"container", h.Container}, {"huge pages", h.Memory.THP},
		{"dlbench", build}, {"Go", r.Tool.Go},
	}
	for i := range all {
		if all[i].Text == Unknown { // a report may leave out what another one calls so
			all[i].Text = ""
		}
	}
	return all
}

// title is "Gen3 x16" of a link at a rate, or why that is not known.
func (l Link) title(gts float64, width int) string {
	if at, ok := theory.LinkOf(gts, width); ok && l.State == LinkKnown {
		return at.Title()
	}
	return l.State
}

// Properties describe h for people: "CPU", "AMD EPYC 7763, 64 cores, 128 threads". Each GPU,
// disk and note has a line; "" is unknown.
func (h Host) Properties() []Fact {
	c, m := h.CPU, h.Memory
	var gpus, disks []string
	for _, g := range h.GPUs {
		gpus = append(gpus, g.text())
	}
	for _, d := range h.Disks {
		disks = append(disks, d.text())
	}
	limit := cmp.Or(After("cgroup limit ", Size(m.Limit)), "no cgroup limit")
	locked := cmp.Or(After("at most ", Size(m.MemLock)), "no limit")
	available := known(m.Available > 0, Size(m.Available)+" available"+After(" in the cgroup by ", m.BoundBy))
	return []Fact{
		{"CPU", List(cmp.Or(c.Model, "unknown model"), counted(c.Sockets, "socket"), counted(c.Cores, "core"),
			counted(c.Threads, "thread"), counted(c.NUMANodes, "NUMA node"))},
		{"usable CPUs", c.usable()},
		{"clock", List(known(c.Hz > 0, fmt.Sprintf("%.2f GHz when read", c.Hz/1e9)),
			known(c.MaxHz > 0, fmt.Sprintf("%.2f GHz at most", c.MaxHz/1e9)), After("governor ", c.Governor))},
		{"last-level cache", Size(c.LastCache)},
		{"memory", known(m.Total > 0, List(Size(m.Total), available, limit))},
		{"huge pages", After("transparent: ", m.THP)},
		{"page-locked memory", known(m.Total > 0, locked)},
		{"GPUs", cmp.Or(strings.Join(gpus, "\n"), "none")},
		{"disks", strings.Join(disks, "\n")},
		{"system", List(strings.TrimSpace(h.OS+" "+h.Arch), h.Distribution)},
		{"kernel", h.Kernel},
		{"virtualisation", List(cmp.Or(h.Virtualization, Unknown), After("in a container: ", h.Container))},
		{"notes", strings.Join(h.Notes, "\n")},
	}
}

// counted is "2 cores", "" for an unknown number.
func counted(n int, noun string) string { return known(n > 0, Plural(n, noun)) }

// usable says how many CPUs can be used and what limits them.
func (c CPU) usable() string {
	quota := "no quota"
	if c.Quota != nil {
		quota = fmt.Sprintf("quota %.4g", *c.Quota)
	}
	stopped := known(c.NrThrottled > 0, fmt.Sprintf("stopped by it %d times before the run", c.NrThrottled))
	return known(c.Usable > 0, fmt.Sprintf("%.4g (affinity %d, %s)", c.Usable, c.Affinity, List(quota, stopped)))
}

// GPUTitle names the GPUs of a host: "2 x NVIDIA H100", "no GPU".
func (h Host) GPUTitle() string {
	name := func(g GPU) string { return cmp.Or(Plain(g.Name), "unknown GPU") }
	var names []string
	for _, same := range Grouped(h.GPUs, name) {
		title := name(same[0])
		if n := len(same); n > 1 {
			title = fmt.Sprintf("%d x %s", n, title)
		}
		names = append(names, title)
	}
	return cmp.Or(List(names...), "no GPU")
}

func (g GPU) text() string {
	name, node := "not seen by CUDA", "NUMA node unknown"
	if g.Index != nil {
		name = fmt.Sprintf("cuda:%d", *g.Index)
	}
	if g.NUMANode != nil {
		node = fmt.Sprintf("NUMA node %d", *g.NUMANode)
	}
	l := g.Link
	shares := After(strings.TrimSpace("shares the uplink "+g.Uplink)+" with ", strings.Join(g.Shares, " and "))
	return List(name+": "+cmp.Or(g.Name, "unknown model")+After(" at ", g.PCI), Size(g.Memory),
		After("link ", l.title(l.GTs, l.Width)), known(l.MaxWidth > 0, "at most "+l.title(l.MaxGTs, l.MaxWidth)),
		known(l.Narrow != g.PCI, After("narrowest at ", l.Narrow)), node, shares) + After("; ", l.Note)
}

// Title is what d is: "nvme0n1 Samsung SSD 990 PRO, nvme, Gen4 x4, ext4".
func (d Disk) Title() string {
	words := map[string]string{DiskSpinning: "hard disk", DiskUnknown: "kind unknown", "": "kind unknown"}
	return List(strings.TrimSpace(d.Name+" "+d.Model), cmp.Or(words[d.Kind], d.Kind), known(d.Link != Unknown, d.Link),
		cmp.Or(d.FileSystem, "file system unknown"))
}

func (d Disk) text() string {
	free := known(d.Free > 0, Size(d.Free)+" free"+After(" of ", Size(d.Total)))
	cache := "page cache " + d.Cache + After(": ", d.CacheReason)
	lines := []string{
		List(d.Title(), known(d.Link == Unknown, "link unknown"), Size(d.Size), strings.Join(d.MountOptions, " ")),
		List(free, After("read-ahead ", Size(d.ReadAhead)), After("scheduler ", d.Scheduler)),
		known(d.Cache != "" && d.Cache != CacheControllable, cache),
		known(d.Compressed, "the file system compresses, or may"),
	}
	return Join("\n", append(lines, d.Notes...)...)
}

// known is text where that is so.
func known(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// Size is n bytes, "" for none.
func Size(n int64) string { return known(n != 0, FormatBytes(n)) }

// After is s after what announces it, "" without s.
func After(before, s string) string { return known(s != "", before+s) }

// List joins what is not empty with commas.
func List(parts ...string) string { return Join(", ", parts...) }

// Join joins what is not empty.
func Join(separator string, parts ...string) string {
	return strings.Join(Without(parts, ""), separator)
}
