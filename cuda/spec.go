package cuda

import (
	"fmt"
	"strconv"
	"strings"

	"dlbench/bench/theory"
)

// Forms that a device specification has, for messages.
const specForms = "auto, all, cuda:N[:link=LINK], or sim:LINK, with LINK such as gen3x16 and [:gbps=X][:pageable-gbps=Y] behind it, X and Y in GB/s"

// Spec names a device.
type Spec struct {
	Text  string // as given
	Auto  bool   // every CUDA device, or assumed links where there is none
	All   bool   // every CUDA device
	CUDA  bool   // the CUDA device Index, behind Link if that is set
	Index int    // CUDA ordinal
	Link  theory.Link
	Rates Rates // of Link
	Given bool  // the user gave a rate
}

// Sim tells whether s names an assumed link without a GPU.
func (s Spec) Sim() bool { return !s.CUDA && s.Link != theory.Link{} }

// Loaded tells whether s names a GPU whose copies last as long as over Link.
func (s Spec) Loaded() bool { return s.CUDA && s.Link != theory.Link{} }

// ParseSpec reads a device specification.
func ParseSpec(text string) (Spec, error) {
	s := Spec{Text: text}
	kind, rest, _ := strings.Cut(text, ":")
	switch kind {
	case "auto", "all":
		s.Auto, s.All = kind == "auto", kind == "all"
		if text != kind {
			return Spec{}, fmt.Errorf("%s takes no options: want %s", kind, specForms)
		}
		return s, nil
	case "cuda":
		number, options, loaded := strings.Cut(rest, ":")
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || strconv.Itoa(n) != number {
			return Spec{}, fmt.Errorf("%q is no device number: want %s", number, specForms)
		}
		s.CUDA, s.Index = true, n
		if !loaded {
			return s, nil
		}
		link, ok := strings.CutPrefix(options, "link=")
		if !ok {
			return Spec{}, fmt.Errorf("unknown option %q: want link=LINK first, such as cuda:%d:link=gen3x8", options, n)
		}
		return parseLink(s, strings.Split(link, ":"))
	case "sim":
		return parseLink(s, strings.Split(rest, ":"))
	}
	return Spec{}, fmt.Errorf("unknown device: want %s", specForms)
}

// leastGBps is the slowest link that can be assumed: a tenth of Gen1 x1 at half its
// rate, below which a batch takes minutes.
const leastGBps = 0.01

// parseLink reads a link and the rates that it is given.
func parseLink(s Spec, parts []string) (Spec, error) {
	l, err := theory.ParseLink(parts[0])
	if err != nil {
		return Spec{}, err
	}
	s.Link = l
	line := l.LineRate()
	s.Rates = Rates{Pinned: theory.AssumedPinned * line, Pageable: theory.AssumedPageable * line}
	given := map[string]bool{}
	for _, o := range parts[1:] {
		key, value, _ := strings.Cut(o, "=")
		if given[key] {
			return Spec{}, fmt.Errorf("%s: %s= is given twice", o, key)
		}
		given[key] = true
		var rate *float64
		switch key {
		case "gbps":
			rate = &s.Rates.Pinned
		case "pageable-gbps":
			rate = &s.Rates.Pageable
		default:
			return Spec{}, fmt.Errorf("unknown option %q: want gbps=X or pageable-gbps=Y", o)
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x > 0) {
			return Spec{}, fmt.Errorf("%s=%s: want a rate above 0 in GB/s", key, value)
		}
		if x < leastGBps {
			return Spec{}, fmt.Errorf("%s=%s: want a rate of at least %g GB/s", key, value, leastGBps)
		}
		if x *= 1e9; x > line*1.0001 {
			return Spec{}, fmt.Errorf("%s=%s: faster than the line rate of %s, %.3f GB/s", key, value, l.Title(), line/1e9)
		}
		*rate, s.Given = x, true
	}
	return s, nil
}

// source says where the rates of an assumed link come from.
func (s Spec) source() string {
	line := s.Link.LineRate()
	from := "as given"
	if !s.Given {
		lo, hi := theory.PublishedShares("pinned")
		plo, phi := theory.PublishedShares("pageable")
		from = fmt.Sprintf("published measurements over Gen3 to Gen5 lie at %.2f-%.2f and %.2f-%.2f", lo, hi, plo, phi)
	}
	how := "assumed"
	if s.Loaded() {
		how = "link time loaded: a real copy is repeated, and the last time cut short, until it has lasted as long as over the assumed link"
	}
	return fmt.Sprintf("%s: pinned %.2f and pageable %.2f of the line rate; %s", how, s.Rates.Pinned/line, s.Rates.Pageable/line, from)
}
