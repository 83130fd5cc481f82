package theory

import (
	"fmt"
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

// ParseDevice reads the specification of a device.
func ParseDevice(text string) (Device, error) {
	d := Device{Text: text}
	kind, rest, _ := strings.Cut(text, ":")
	switch kind {
	case "auto", "all":
		d.Auto, d.All = kind == "auto", kind == "all"
		if text != kind {
			return Device{}, fmt.Errorf("%s takes no options: want %s", kind, deviceForms)
		}
		return d, nil
	case "cuda":
		number, options, loaded := strings.Cut(rest, ":")
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || strconv.Itoa(n) != number {
			return Device{}, fmt.Errorf("%q is no device number: want %s", number, deviceForms)
		}
		d.CUDA, d.Index = true, n
		if !loaded {
			return d, nil
		}
		link, ok := strings.CutPrefix(options, "link=")
		if !ok {
			return Device{}, fmt.Errorf("unknown option %q: want link=LINK first, such as cuda:%d:link=gen3x8",
				options, n)
		}
		return parseLink(d, strings.Split(link, ":"))
	case "sim":
		return parseLink(d, strings.Split(rest, ":"))
	}
	return Device{}, fmt.Errorf("unknown device: want %s", deviceForms)
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
	d.Link = l
	line := l.LineRate()
	d.Rates = Rates{Pinned: AssumedPinned * line, Pageable: AssumedPageable * line}
	given := map[string]bool{}
	rates := map[string]*float64{"gbps": &d.Rates.Pinned, "pageable-gbps": &d.Rates.Pageable}
	for _, o := range parts[1:] {
		key, value, _ := strings.Cut(o, "=")
		rate := rates[key]
		if rate == nil {
			return Device{}, fmt.Errorf("unknown option %q: want gbps=X or pageable-gbps=Y", o)
		}
		if given[key] {
			return Device{}, fmt.Errorf("%s: %s= is given twice", o, key)
		}
		given[key] = true
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x > 0) {
			return Device{}, fmt.Errorf("%s=%s: want a rate above 0 in GB/s", key, value)
		}
		if x < leastGBps {
			return Device{}, fmt.Errorf("%s=%s: want a rate of at least %g GB/s", key, value, leastGBps)
		}
		if x *= 1e9; x > line*1.0001 {
			return Device{}, fmt.Errorf("%s=%s: faster than the line rate of %s, %.3f GB/s",
				key, value, l.Title(), line/1e9)
		}
		*rate, d.Given = x, true
	}
	return d, nil
}

// Source says where the rates of a simulated link come from.
func (d Device) Source() string {
	line := d.Link.LineRate()
	from := "as given"
	if !d.Given {
		lo, hi := PublishedShares("pinned")
		plo, phi := PublishedShares("pageable")
		from = fmt.Sprintf("published measurements over Gen3 to Gen5 lie at %.2f-%.2f and %.2f-%.2f", lo, hi, plo, phi)
	}
	how := "simulated"
	if d.Loaded() {
		how = "link time loaded: a real copy is repeated, and the last time cut short, " +
			"until it has lasted as long as over the simulated link"
	}
	return fmt.Sprintf("%s: pinned %.2f and pageable %.2f of the line rate; %s",
		how, d.Rates.Pinned/line, d.Rates.Pageable/line, from)
}
