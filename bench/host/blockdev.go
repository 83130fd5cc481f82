package host

import (
	"path/filepath"
	"slices"
	"strings"
)

const sysBlock = "sys/class/block"

// blockDev is a block device of /sys: its name and its folder, all symlinks
// followed, in which those of its bus are above it.
type blockDev struct {
	name string
	dir  tree
}

// blockByNumber finds a device by its number.
func blockByNumber(t tree, d devno) (blockDev, bool) {
	return blockAt(t.path("sys/dev/block/" + d.String()))
}

// blockByName finds a device by its name, "nvme0n1p2". Names of /sys have "!"
// where those of /dev have a slash.
func blockByName(t tree, name string) (blockDev, bool) {
	name = strings.ReplaceAll(name, "/", "!")
	if name == "" || name == "." || name == ".." {
		return blockDev{}, false
	}
	return blockAt(t.path(sysBlock + "/" + name))
}

// blockAt follows a link into /sys/devices, and goes from a partition up to its
// disk.
func blockAt(link string) (blockDev, bool) {
	dir, err := filepath.EvalSymlinks(link)
	if err != nil {
		return blockDev{}, false
	}
	if tree(dir).exists("partition") {
		dir = filepath.Dir(dir)
	}
	return blockDev{filepath.Base(dir), tree(dir)}, true
}

// number of a file of the device's folder, 0 if unknown.
func (b blockDev) number(name string) int64 {
	n, _ := b.dir.number(name)
	return max(n, 0)
}

// size in bytes: the file counts sectors of 512 bytes on every device.
func (b blockDev) size() int64 {
	if n := b.number("size"); n < 1<<50 {
		return n * 512
	}
	return 0
}

// scheduler is the word in brackets of "none [mq-deadline] kyber".
func (b blockDev) scheduler() string {
	text := b.dir.text("queue/scheduler")
	if _, rest, ok := strings.Cut(text, "["); ok {
		word, _, _ := strings.Cut(rest, "]")
		return printable(word)
	}
	if text == "none" {
		return text
	}
	return ""
}

// maxStack bounds how many devices may lie over each other, and how many file
// systems: a tree that is no machine's may have loops.
const maxStack = 8

// leaves are the disks at the bottom of a device: through dm (LVM, encryption,
// multipath) and md, whose parts are their slaves. A device without slaves is its
// own leaf. What was found on the way is noted.
func (b blockDev) leaves(t tree, depth int) (leaves []blockDev, notes []string) {
	if s := b.stacked(); s != "" {
		notes = append(notes, s)
	}
	slaves := b.dir.names("slaves")
	for _, name := range slaves {
		s, ok := blockByName(t, name)
		if !ok || depth >= maxStack {
			continue
		}
		below, more := s.leaves(t, depth+1)
		for _, l := range below {
			if !slices.ContainsFunc(leaves, func(x blockDev) bool { return x.name == l.name }) {
				leaves = append(leaves, l)
			}
		}
		notes = append(notes, more...)
	}
	if len(leaves) == 0 {
		leaves = []blockDev{b}
		if strings.HasPrefix(b.name, "dm-") || strings.HasPrefix(b.name, "md") {
			notes = append(notes, "the devices below "+b.name+" are not visible")
		}
	}
	return leaves, notes
}

// stacked says what a device makes of those below it; "" for a plain disk. The
// volume's name is the user's and left out.
func (b blockDev) stacked() string {
	if level := printable(b.dir.text("md/level")); level != "" {
		return b.name + ": software RAID, " + level
	}
	kind, _, _ := strings.Cut(b.dir.text("dm/uuid"), "-")
	switch kind {
	case "LVM":
		return b.name + ": LVM volume"
	case "CRYPT":
		return b.name + ": encrypted, decryption takes CPU time"
	case "mpath":
		return b.name + ": multipath"
	}
	return ""
}

// printable cuts text that a device gives to what a report can show.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	return s[:min(len(s), 64)]
}
