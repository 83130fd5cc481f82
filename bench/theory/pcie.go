// Package theory has the closed-form numbers that measurements are held
// against: PCI Express, disks, the articles' figures and a GPU's demand. It does
// no I/O. Times are in seconds, rates in bytes per second, unless a name says
// otherwise.
package theory

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// Link is a PCI Express link of a generation (1 to 7) and a number of lanes.
type Link struct {
	Gen   int
	Lanes int
}

// Links are those that tables of theory list, slowest first.
var Links = []Link{{1, 16}, {2, 16}, {3, 4}, {3, 8}, {3, 16}, {4, 4}, {4, 8}, {4, 16}, {5, 4}, {5, 8}, {5, 16}, {6, 16}}

// transferRate is GT/s a lane by generation (PCI Express Base Specification 6.0,
// section 1.2; 7.0 doubles its rate).
var transferRate = [...]float64{1: 2.5, 2: 5, 3: 8, 4: 16, 5: 32, 6: 64, 7: 128}

// Line coding: 8b/10b up to generation 2, 128b/130b up to 5; from generation 6 on
// flits of 256 bytes that hold 236 bytes of TLP.
const (
	coding8b10b    = 8.0 / 10
	coding128b130b = 128.0 / 130
	codingFlit     = 236.0 / 256
)

// Bytes of header and framing around the payload of one TLP: framing 4, sequence
// and LCRC 4 (with the 128b/130b framing token), and the header itself: a read
// completion has a 3-DW header, a write to a 64-bit address a 4-DW one.
const (
	completionOverhead = 20.0
	writeOverhead      = 24.0
)

// Payloads of one TLP that bound the protocol band. A root complex may split
// completions at 64 bytes, its read completion boundary; 256 bytes is the maximum
// payload of current GPUs, which an unprivileged process cannot read and dlbench
// therefore assumes.
const (
	MinCompletion = 64
	MinWrite      = 128
	MaxPayload    = 256
)

// Direction of a copy.
type Direction int

const (
	HostToDevice Direction = iota // the device reads: completions carry the data
	DeviceToHost                  // the device writes
)

var linkForm = regexp.MustCompile(`^gen([1-6])x(1|2|4|8|16)$`)

// ParseLink reads "gen3x16".
func ParseLink(s string) (Link, error) {
	m := linkForm.FindStringSubmatch(s)
	if m == nil {
		return Link{}, fmt.Errorf("link %q: want gen1x1 to gen6x16, such as gen3x16", s)
	}
	gen, _ := strconv.Atoi(m[1])
	lanes, _ := strconv.Atoi(m[2])
	return Link{gen, lanes}, nil
}

// LinkOf returns the link that runs at gts GT/s a lane over so many lanes, as the
// link registers give them; ok is false for a rate that no generation has.
func LinkOf(gts float64, lanes int) (l Link, ok bool) {
	for gen, r := range transferRate {
		if r > 0 && math.Abs(gts-r) < 0.01 && lanes > 0 {
			return Link{gen, lanes}, true
		}
	}
	return Link{}, false
}

// String returns the form that ParseLink reads.
func (l Link) String() string { return fmt.Sprintf("gen%dx%d", l.Gen, l.Lanes) }

// Title returns "Gen3 x16".
func (l Link) Title() string { return fmt.Sprintf("Gen%d x%d", l.Gen, l.Lanes) }

// TransferRate is the link's GT/s a lane, 0 for an unknown generation.
func (l Link) TransferRate() float64 {
	if l.Gen < 1 || l.Gen >= len(transferRate) {
		return 0
	}
	return transferRate[l.Gen]
}

// LineRate is the bytes per second of one direction after line coding and before
// any packet overhead: GT/s x coding x lanes / 8. No copy can be faster.
func (l Link) LineRate() float64 {
	coding := coding128b130b
	switch {
	case l.Gen <= 2:
		coding = coding8b10b
	case l.Gen >= 6:
		coding = codingFlit
	}
	return l.TransferRate() * 1e9 * coding * float64(l.Lanes) / 8
}

// Band is the range of bytes per second that the protocol allows: from the
// smallest packets to full ones of MaxPayload, payload / (payload + header) each. ok is false from generation 6 on,
// whose flits these sums do not describe. Flow-control traffic is not subtracted:
// published measurements exceed ceilings that do.
func (l Link) Band(d Direction) (lo, hi float64, ok bool) {
	if l.Gen < 1 || l.Gen > 5 {
		return 0, 0, false
	}
	small, overhead := float64(MinCompletion), completionOverhead
	if d == DeviceToHost {
		small, overhead = MinWrite, writeOverhead
	}
	return l.LineRate() * small / (small + overhead), l.LineRate() * MaxPayload / (MaxPayload + overhead), true
}

// Time is how long bytes take at rate bytes per second.
func Time(bytes int64, rate float64) float64 { return float64(bytes) / rate }
