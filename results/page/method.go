package page

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dlbench/results"
)

// facts are how a report came about.
func facts(r *results.Report) []results.Fact {
	started, merged, data := "", "", ""
	if !r.Started.IsZero() {
		started = r.Started.UTC().Format("2006-01-02 15:04:05 UTC") + results.After(", took ", duration(r))
	}
	if r.Merged > 0 {
		merged = results.Plural(r.Merged, "report")
	}
	if d := r.Dataset; d != nil {
		data = results.List(d.Store, fmt.Sprintf("%d images", d.Images), results.Size(d.Bytes),
			results.After("fingerprint ", d.Fingerprint))
		if d.Seed != 0 {
			data += fmt.Sprintf(", made from seed %d", d.Seed)
		}
	}
	return []results.Fact{
		{What: "tool", Text: toolText(r.Tool)}, {What: "started", Text: started}, {What: "merged from", Text: merged},
		{What: "cases", Text: cases(r)}, {What: "samples", Text: sampleText(r)}, {What: "data set", Text: data},
		{What: "schema", Text: strconv.Itoa(r.SchemaVersion)},
	}
}

// toolText is "dlbench 0.2.0, commit 0123abc with changes, go1.26.0".
func toolText(t results.Tool) string {
	s := strings.TrimSpace(cmp.Or(t.Name, "dlbench")+" "+t.Version) + results.After(", commit ", t.Commit)
	if t.Dirty {
		s += " with changes"
	}
	return s + results.After(", ", t.Go)
}

// duration is how long a run lasted, "" where that is unknown, as for merged ones: it is
// not known what lay between them.
func duration(r *results.Report) string {
	if r.Merged > 0 || r.Started.IsZero() || !r.Finished.After(r.Started) {
		return ""
	}
	return r.Finished.Sub(r.Started).Round(time.Second).String()
}

// command is the command line of a configuration. What a report does not hold, such
// as paths, is not in it.
func command(c results.Config) string {
	args := []string{"dlbench run"}
	flag := func(name, value string) {
		if value != "" {
			args = append(args, name+" "+shell(value))
		}
	}
	number := func(name string, v float64, unit string) {
		if v > 0 {
			flag(name, strconv.FormatFloat(v, 'f', -1, 64)+unit)
		}
	}
	flag("--suite", strings.Join(c.Suites, ","))
	for _, d := range c.Devices {
		flag("--device", d)
	}
	number("--batch", float64(c.Batch), "")
	flag("--shape", strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Shape), " ", "x"), "[]"))
	flag("--dtype", c.DType)
	if c.Quick {
		args = append(args, "--quick")
	}
	number("--count", float64(c.Count), "")
	number("--min-time", c.MinTime, "s")
	number("--timeout", c.Timeout, "s")
	if c.Repeat > 1 {
		number("--repeat", float64(c.Repeat), "")
	}
	for _, axis := range slices.Sorted(maps.Keys(c.Axes)) {
		flag("-a", axis+"="+strings.Join(c.Axes[axis], ","))
	}
	flag("--seed", strconv.FormatUint(c.Seed, 10))
	return strings.Join(args, " ")
}

var shellSafe = regexp.MustCompile(`^[A-Za-z0-9_./:=,+-]+$`)

// shell quotes s for a POSIX shell where it has to be.
func shell(s string) string {
	if s = results.Plain(s); shellSafe.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// cases counts the cases by their status.
func cases(r *results.Report) string {
	n := map[string]int{}
	for _, res := range r.Results {
		n[res.Status]++
	}
	s := fmt.Sprintf("%d measured", n[results.OK])
	for _, status := range []string{results.Skipped, results.Failed} {
		if n[status] > 0 {
			s += fmt.Sprintf(", %d %s", n[status], status)
		}
	}
	return s
}

// sampleText says how many samples there are, and what is to be known of them.
func sampleText(r *results.Report) string {
	var counts []int // of metrics that have any
	all, noisy, throttled, outliers, dropped := 0, 0, 0, 0, 0
	for _, res := range r.Results {
		for _, m := range res.Metrics {
			if n := len(m.Samples); n > 0 {
				counts, all = append(counts, n), all+n
			}
			outliers, dropped = outliers+m.Outliers, dropped+m.Dropped
			for _, s := range m.Samples {
				if s.Noisy() {
					noisy++
				}
				if s.Throttled() {
					throttled++
				}
			}
		}
	}
	if all == 0 {
		return ""
	}
	s := fmt.Sprintf("%d in all, %d to %d a metric; %d from noisy rounds; %d outliers, counted and kept",
		all, slices.Min(counts), slices.Max(counts), noisy, outliers)
	if throttled > 0 {
		s += fmt.Sprintf("; %d while the GPU was throttled", throttled)
	}
	if dropped > 0 {
		s += fmt.Sprintf("; %d that were no finite numbers, left out", dropped)
	}
	return s
}
