package results

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"
)

// digits is how many significant digits FormatValue gives, and the most that any number has.
const digits = 4

// NoValue stands in tables for a number that is not there.
const NoValue = "-"

// FormatValue returns v for people, with four significant digits: "1.543 ms",
// "12.60 GB/s", "19.44 MB", "99.52 %" for a Ratio, "148.1 /s". Prefixes are
// decimal; rates from a million up are "61.80 million /s". A number that is not finite gives
// NoValue.
func FormatValue(v float64, unit string) string { return formatDigits(v, unit, digits) }

// FormatMedian returns the median of m with as many significant digits, from two to four, as
// its interval supports, or the range of its samples.
func FormatMedian(m Metric) string {
	n, x := digits, IntervalOf(&m)
	for _, share := range []float64{0.01, 0.1} {
		if max(x.Hi-m.Median, m.Median-x.Lo) >= share*math.Abs(m.Median) {
			n--
		}
	}
	return formatDigits(m.Median, m.DisplayUnit(), n)
}

// formatDigits is FormatValue with n significant digits.
func formatDigits(v float64, unit string, n int) string {
	if !IsFinite(v) {
		return NoValue
	}
	number, unit := scale(v, v, unit, n)
	if number == NoValue {
		return NoValue
	}
	return number + " " + unit
}

// FormatSeconds is a time in s with its unit.
func FormatSeconds(s float64) string { return FormatValue(s, Seconds) }

// FormatRange returns "1.331..1.620 ms", both ends with the prefix of the upper.
func FormatRange(lo, hi float64, unit string) string {
	if !IsFinite(lo) || !IsFinite(hi) {
		return NoValue
	}
	first, _ := scale(lo, hi, unit, digits)
	last, unit := scale(hi, hi, unit, digits)
	return first + ".." + last + " " + unit
}

// scale returns v as text with n significant digits, and its unit with the prefix that suits
// like.
func scale(v, like float64, unit string, n int) (number, scaled string) {
	switch unit {
	case Seconds:
		f, prefix := siPrefix(like, -3, 0)
		return figures(v/f, n, maxDecimals), prefix + unit
	case Bytes, BytesPerSecond:
		f, prefix := siPrefix(like, 0, 5)
		if f == 1 && v == math.Trunc(v) {
			return strconv.FormatFloat(v, 'f', 0, 64), unit
		}
		return figures(v/f, n, maxDecimals), prefix + unit
	case Ratio:
		return figures(100*v, n, digits-1), "%"
	case PerSecond:
		unit = "/s"
	}
	unit = Plain(unit) // whatever a report calls it
	if strings.HasSuffix(unit, "/s") && like >= 1e6 {
		return figures(v/1e6, n, maxDecimals), "million " + unit
	}
	if n == digits && v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64), unit
	}
	return figures(v, n, maxDecimals), unit
}

// siPrefix returns the largest power of 1000, of those from first to last, that leaves
// at least 1 before the point once v is rounded, and its prefix.
func siPrefix(v float64, first, last int) (factor float64, prefix string) {
	n := 0
	if v != 0 {
		n = min(max(int(math.Floor(float64(exponent(v, digits))/3)), first), last)
	}
	return math.Pow10(3 * n), [...]string{"n", "µ", "m", "", "k", "M", "G", "T", "P"}[n+3]
}

// exponent is the power of ten of v once it is rounded to n digits: 9.9999 has that of 10.00.
func exponent(v float64, n int) int {
	_, e, _ := strings.Cut(strconv.FormatFloat(v, 'e', n-1, 64), "e")
	power, _ := strconv.Atoi(e)
	return power
}

// maxDecimals is how many decimals a number has at most before it is written as 1e-12.
const maxDecimals = 9

// figures returns v with n significant digits, zeros for what is beyond them before the point,
// and at most so many decimals.
func figures(v float64, n, most int) string {
	if !IsFinite(v) { // scaling can overflow
		return NoValue
	}
	decimals := n - 1 - exponent(v, n)
	if decimals < 0 && n < digits {
		v = math.Round(v*math.Pow10(decimals)) * math.Pow10(-decimals)
	}
	switch {
	case most == maxDecimals && v == 0:
		return "0"
	case most == maxDecimals && decimals > most:
		return strconv.FormatFloat(v, 'g', n, 64)
	}
	return strconv.FormatFloat(v, 'f', min(max(decimals, 0), most), 64)
}

// FormatBytes returns a size as people write it: "16 MiB" or "4 KiB" where it is
// a whole number of those, else decimal with as many digits as it needs up to
// four: "19.44 MB", "607.5 kB".
func FormatBytes(n int64) string {
	if n >= 1024 && n&(n-1) == 0 { // a power of two, as sizes of caches and sweeps are
		i := min(bits.TrailingZeros64(uint64(n))/10, 5)
		return fmt.Sprintf("%d %ciB", n>>(10*i), "KMGTP"[i-1])
	}
	return FormatExact(float64(n), Bytes)
}

// FormatInterval returns how far the median's interval reaches from it, the
// longer side: "±0.4 %", and "±>100 %" where it says next to nothing. A metric without an
// interval gives "1.541..1.560 ms", its minimum and maximum, and a simulated one nothing.
func FormatInterval(m Metric) string {
	switch {
	case strings.HasPrefix(m.Reason, ReasonAssumed) || m.Missing():
		return ""
	case m.Lo == nil || m.Hi == nil:
		if len(m.Samples) == 1 || m.Min == m.Max {
			return ""
		}
		return FormatRange(m.Min, m.Max, m.Unit)
	case m.Median == 0:
		return FormatRange(*m.Lo, *m.Hi, m.Unit)
	}
	switch side := max(*m.Hi-m.Median, m.Median-*m.Lo) / math.Abs(m.Median); {
	case side < 0.0005:
		return "±<0.1 %"
	case side > 1:
		return "±>100 %"
	case side < 0.1:
		return fmt.Sprintf("±%.1f %%", 100*side)
	default:
		return fmt.Sprintf("±%.0f %%", 100*side)
	}
}

// Missing reports whether m has no value at all.
func (m *Metric) Missing() bool {
	return len(m.Samples) == 0 && m.Median == 0 && m.Min == 0 && m.Max == 0
}

// DisplayUnit is the unit of m for people: what a throughput counts is images.
func (m *Metric) DisplayUnit() string {
	if m.Name == "throughput" && m.Unit == PerSecond {
		return "images/s"
	}
	return m.Unit
}

// FormatExact is FormatValue without the zeros that would claim digits which a figure
// such as the article's 4.5 ms does not have.
func FormatExact(v float64, unit string) string {
	number, rest, _ := strings.Cut(FormatValue(v, unit), " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return strings.TrimSpace(number + " " + rest)
}

// FormatFactor is a ratio with three decimals, or four digits from 10.
func FormatFactor(x float64) string {
	if x >= 10 || x < 0.1 {
		return figures(x, digits, maxDecimals)
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

// Plain makes one line of s that a terminal may print and XML may hold: line breaks
// and tabs become spaces, and other control, formatting and invisible characters, with
// which a report could move the cursor or turn text around, are dropped.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsGraphic(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, s)
}

// Words is Plain with single spaces, cut to n characters.
func Words(s string, n int) string { return Clip(strings.Join(strings.Fields(Plain(s)), " "), n) }

// Clip cuts s to n characters, the last of which is an ellipsis then; 0 is no limit.
func Clip(s string, n int) string {
	if n <= 0 || utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}

// OneLine joins the lines that errors.Join makes, once each.
func OneLine(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		lines = AppendNew(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "; ")
}

// InWords is "a, b and c".
func InWords(list []string) string { return english.WordSeries(list, "and") }

// Plural is "1 sample" or "3 samples".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
