package theory

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// deviceForms are the forms of a device's specification, for messages.
const deviceForms = "auto, all, cuda:N[:link=LINK], or sim:LINK, with LINK such as gen3x16 " +
	"and [:gbps=X][:pageable-gbps=Y] behind it, X and Y in GB/s"

// Rates of a simulated link in bytes per second, each direction alone.
type Rates struct{ Pinned, Pageable float64 }

// Of is the rate from or to a kind of host memory.
func (r Rates) Of(mem string) float64 {
	if mem == "pageable" {
		return r.Pageable
	}
	return r.Pinned
}

// Device is a device's specification, as users give it and reports name it: a GPU, a
// GPU behind a loaded link, a simulated link, or all that there are.
type Device struct {
	Text  string // as given
	Auto  bool   // every CUDA device, or simulated links where there is none
	All   bool   // every CUDA device
	CUDA  bool   // the CUDA device Index, behind Link if that is set
	Index int    // CUDA ordinal
	Link  Link
	Rates Rates // of Link
	Given bool  // the user gave a rate
}

// Named tells whether d names one device, not any that there are.
func (d Device) Named() bool { return !d.Auto && !d.All }

// Sim tells whether d names a simulated link without a GPU.
func (d Device) Sim() bool { return !d.CUDA && d.Link != Link{} }

// Loaded tells whether d names a GPU whose copies last as long as over Link.
func (d Device) Loaded() bool { return d.CUDA && d.Link != Link{} }

var deviceForm = regexp.MustCompile(`^(?:auto|all|cuda:(0|[1-9][0-9]{0,8})(?::link=(.+))?|sim:(.+))$`)

// ParseDevice reads the specification of a device.
func ParseDevice(text string) (Device, error) {
	m := deviceForm.FindStringSubmatch(text)
	if m == nil {
		return Device{}, fmt.Errorf("unknown device: want %s", deviceForms)
	}
	d := Device{Text: text, Auto: text == "auto", All: text == "all", CUDA: m[1] != ""}
	d.Index, _ = strconv.Atoi(m[1])
	if link := m[2] + m[3]; link != "" {
		return parseLink(d, strings.Split(link, ":"))
	}
	return d, nil
}

// leastGBps is the slowest link that can be assumed: a tenth of Gen1 x1 at half its
// rate, below which a batch takes minutes.
const leastGBps = 0.01

// parseLink reads a link and the rates that it is given.
func parseLink(d Device, parts []string) (Device, error) {
	l, err := ParseLink(parts[0])
	if err != nil {
		return Device{}, err
	}
	line := l.LineRate()
	d.Link, d.Rates = l, Rates{Pinned: AssumedPinned * line, Pageable: AssumedPageable * line}
	for _, o := range parts[1:] {
		key, value, _ := strings.Cut(o, "=")
		rate := map[string]*float64{"gbps": &d.Rates.Pinned, "pageable-gbps": &d.Rates.Pageable}[key]
		if rate == nil {
			return Device{}, fmt.Errorf("unknown option %q: want gbps=X or pageable-gbps=Y", o)
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x >= leastGBps && x*1e9 <= line*1.0001) {
			return Device{}, fmt.Errorf("%s: want a rate from %g to the line rate of %s, %.3f GB/s",
				o, leastGBps, l.Title(), line/1e9)
		}
		*rate, d.Given = x*1e9, true
	}
	return d, nil
}

// Source says where the rates of a simulated link come from.
func (d Device) Source() string {
	line := d.Link.LineRate()
	from := "as given"
	if !d.Given {
		from = "published measurements over Gen3 to Gen5 lie at " + publishedShares
	}
	how := "simulated"
	if d.Loaded() {
		how = "link time loaded: a real copy is repeated, and the last time cut short, " +
			"until it has lasted as long as over the simulated link"
	}
	return fmt.Sprintf("%s: pinned %.2f and pageable %.2f of the line rate; %s",
		how, d.Rates.Pinned/line, d.Rates.Pageable/line, from)
}
