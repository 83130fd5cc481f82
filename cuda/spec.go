package cuda

import (
	"fmt"
	"strconv"
	"strings"

	"dlbench/bench/theory"
)

// Forms that a device specification has, for messages.
const specForms = "auto, cuda:N, or sim:LINK[:gbps=X][:pageable-gbps=Y] with LINK such as gen3x16, X and Y in GB/s"

// Spec names a device.
type Spec struct {
	Text  string // as given
	Auto  bool   // every CUDA device, or assumed links where there is none
	Index int    // CUDA ordinal, when Link is zero and Auto is not set
	Link  theory.Link
	Rates Rates // of an assumed link
	Given bool  // the user gave a rate
}

// Sim tells whether s names an assumed link.
func (s Spec) Sim() bool { return s.Link != theory.Link{} }

// ParseSpec reads a device specification.
func ParseSpec(text string) (Spec, error) {
	s := Spec{Text: text}
	kind, rest, _ := strings.Cut(text, ":")
	switch kind {
	case "auto":
		s.Auto = true
		if text != "auto" {
			return Spec{}, fmt.Errorf("auto takes no options: want %s", specForms)
		}
		return s, nil
	case "cuda":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 || strconv.Itoa(n) != rest {
			return Spec{}, fmt.Errorf("%q is no device number: want %s", rest, specForms)
		}
		s.Index = n
		return s, nil
	case "sim":
		return parseSim(s, strings.Split(rest, ":"))
	}
	return Spec{}, fmt.Errorf("unknown device: want %s", specForms)
}

// leastGBps is the slowest link that can be assumed: a tenth of Gen1 x1 at half its
// rate, below which a batch takes minutes.
const leastGBps = 0.01

func parseSim(s Spec, parts []string) (Spec, error) {
	l, err := theory.ParseLink(parts[0])
	if err != nil {
		return Spec{}, err
	}
	s.Link = l
	line := l.LineRate()
	s.Rates = Rates{Pinned: theory.AssumedPinned * line, Pageable: theory.AssumedPageable * line}
	for _, o := range parts[1:] {
		key, value, _ := strings.Cut(o, "=")
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
	return fmt.Sprintf("assumed: pinned %.2f and pageable %.2f of the line rate; %s", s.Rates.Pinned/line, s.Rates.Pageable/line, from)
}
