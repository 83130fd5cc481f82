package results

import (
	"reflect"
	"testing"
)

// Nodes' rates are summed, their times are not, and the slowest is named by either; a node without a report, or
// without a case, is left out of it.
func TestJoinNodes(t *testing.T) {
	report := func(rate, time float64) *Report {
		return &Report{Results: []Result{
			{Suite: "disk", Name: "disk/a", Status: OK, Metrics: []Metric{
				{Name: "time", Unit: Seconds, Better: Lower, Median: 9},
				{Name: "bandwidth", Unit: BytesPerSecond, Better: Higher, Median: rate}}},
			{Suite: "pcie", Name: "pcie/b", Status: OK, Metrics: []Metric{
				{Name: "time", Unit: Seconds, Better: Lower, Median: time}}},
			{Suite: "pcie", Name: "pcie/skipped", Status: Skipped},
		}}
	}
	alone := report(20, 8)
	alone.Results = alone.Results[:1]
	want := []NodesCase{
		{Suite: "disk", Name: "disk/a", Metric: "bandwidth", Unit: BytesPerSecond, Total: new(60.0), Slowest: 2,
			Nodes: []NodeValue{{Rank: 0, Median: 30}, {Rank: 2, Median: 10}, {Rank: 3, Median: 20}}},
		{Suite: "pcie", Name: "pcie/b", Metric: "time", Unit: Seconds, Slowest: 2,
			Nodes: []NodeValue{{Rank: 0, Median: 3}, {Rank: 2, Median: 5}}},
	}
	got := JoinNodes([]*Report{report(30, 3), nil, report(10, 5), alone})
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v\nwant %+v", got, want)
	}
	if lo, hi := got[0].Ends(); lo != 10 || hi != 30 {
		t.Errorf("from %v to %v", lo, hi)
	}
}
