package results

import (
	"strings"
	"testing"
)

// What no measurement can be is left out when a report is read, with a warning that names it,
// and takes nothing else with it.
func TestReadLeavesOutNonsense(t *testing.T) {
	metric := func(fields string) string {
		return `{"name":"time","unit":"s","median":2,"min":1,"max":3,` + fields + `}`
	}
	good := metric(`"mad":0.1,"lo":1.5,"hi":2.5,"samples":[{"value":2,"n":1},{"value":3,"n":1}]`)
	for _, c := range []struct {
		name, metric string
		why          string // "" for sense
	}{
		{"sense", good, ""},
		{"a deadline that was kept early", `{"name":"lateness","unit":"s","median":-1e-6,"min":-2e-6,"max":0}`, ""},
		{"a gain below 0", `{"name":"gain","unit":"ratio","median":-0.1,"min":-0.1,"max":-0.1}`, ""},
		{"no minimum", `{"name":"time","unit":"s","median":2,"samples":[{"value":2,"n":1}]}`, ""},
		{"median", `{"name":"time","unit":"s","median":-2,"min":-2,"max":-2}`, "a negative value"},
		{"rate", `{"name":"throughput","unit":"1/s","median":-2}`, "a negative value"},
		{"sample", metric(`"samples":[{"value":2,"n":1},{"value":-1,"n":1}]`), "a negative value"},
		{"repetitions", metric(`"samples":[{"value":2,"n":-1}]`), "a count, a deviation"},
		{"quantile", metric(`"quantiles":[{"p":0.5,"value":-1}]`), "a negative value"},
		{"probability", metric(`"quantiles":[{"p":1.5,"value":1}]`), "or a probability that cannot be"},
		{"interval", metric(`"lo":2.5,"hi":1.5`), "a range from 2.5 to 1.5"},
		{"deviation", metric(`"mad":-1`), "a count, a deviation"},
		{"confidence", metric(`"confidence":95`), "or a probability that cannot be"},
		{"median outside", `{"name":"time","unit":"s","median":9,"min":1,"max":3}`, "does not lie between"},
	} {
		text := `{"schema_version":1,"status":"complete","tool":{"name":"dlbench"},"results":[{"suite":"pcie",
			"name":"pcie/mem=pinned","params":{"mem":"pinned"},"status":"ok","metrics":[` + c.metric + `,` +
			strings.Replace(good, "time", "other", 1) + `]}]}`
		r, err := Read(strings.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		res := r.Results[0]
		warned := strings.Join(res.Warnings, ";")
		left := map[bool]int{true: 2, false: 1}[c.why == ""]
		if len(res.Metrics) != left || res.Metric("other") == nil || !strings.Contains(warned, c.why) ||
			(c.why == "") != (warned == "") {
			t.Errorf("%s: %d metrics, warnings %q, want %q", c.name, len(res.Metrics), warned, c.why)
		}
	}
}

func TestReadLeavesOutTheRestOfNonsense(t *testing.T) {
	const result = `"results":[{"suite":"pcie","name":"pcie/mem=pinned","params":{},"status":"ok",
		"metrics":[{"name":"time","unit":"s","median":2}],
		"references":[{"name":"line","metric":"time","value":-1,"source":"x"}],
		"series":[{"name":"clock","unit":"Hz","t":[1,2],"v":[1]}]}]`
	for fields, want := range map[string]string{
		result: "reference line was left out: a negative value;" +
			"series clock was left out: 2 times for 1 values",
		`"results":[],"findings":[{"claim":"A1","verdict":"holds","text":"x","lo":2,"hi":1}]`: "finding A1 was left out",
		`"results":[],"verdict":{"answer":"no","feeds":-5}`:                                   "a negative rate or time",
		`"results":[],"verdict":{"answer":"no","gpu_busy":1.5}`:                               "busy for 1.5 of the time",
		`"results":[],"verdict":{"answer":"no","feeds_lo":3,"feeds_hi":2}`:                    "a range from 3 to 2",
		`"results":[],"config":{"batch":-32}`:                                                 "negative number in its",
		`"results":[],"dataset":{"images":-1}`:                                                "negative number in its",
	} {
		r, err := Read(strings.NewReader(`{"schema_version":1,"status":"complete",` + fields + `}`))
		var said []string
		if err != nil {
			said = append(said, err.Error())
		} else {
			said = r.Warnings
			for _, res := range r.Results {
				said = append(said, res.Warnings...)
			}
		}
		if text := strings.Join(said, ";"); !strings.Contains(text, want) {
			t.Errorf("%s: %q, want %q", fields, text, want)
		}
	}
}
