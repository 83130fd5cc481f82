package results

import (
	"cmp"
	"slices"
)

// Nodes is what several nodes measured of the same cases at the same time.
type Nodes struct {
	Size  int         `json:"size"`
	Lost  []LostNode  `json:"lost,omitempty"`
	Skew  *Skew       `json:"skew,omitempty"`
	Cases []NodesCase `json:"cases,omitempty"`
}

// Skew is by how much, in s, the nodes began the rounds of a case apart, by their clocks.
type Skew struct {
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// LostNode is one that has no report, or left early.
type LostNode struct {
	Rank   int    `json:"rank"`
	Reason string `json:"reason"`
}

// NodesCase is a metric of a case on all nodes that measured it: its first rate, or else its
// first metric.
type NodesCase struct {
	Suite   string      `json:"suite"`
	Name    string      `json:"name"`
	Assumed []string    `json:"assumed,omitempty"`
	Metric  string      `json:"metric"`
	Unit    string      `json:"unit"`
	Total   *float64    `json:"total,omitempty"` // the sum over nodes; absent for what is not a rate
	Slowest int         `json:"slowest"`         // rank
	Nodes   []NodeValue `json:"nodes"`
}

// NodeValue is a metric on one node.
type NodeValue struct {
	Rank   int      `json:"rank"`
	Median float64  `json:"median"`
	Lo     *float64 `json:"lo,omitempty"`
	Hi     *float64 `json:"hi,omitempty"`
}

// JoinNodes puts the reports of nodes, by their ranks, beside each other. A nil one is missing.
func JoinNodes(reports []*Report) (cases []NodesCase) {
	places := map[string]int{}
	for rank, rep := range reports {
		if rep == nil {
			continue
		}
		for i := range rep.Results {
			r := &rep.Results[i]
			if r.Status != OK || len(r.Metrics) == 0 {
				continue
			}
			at, seen := places[r.Name]
			if !seen {
				at = len(cases)
				places[r.Name] = at
				m := r.Metrics[max(0, slices.IndexFunc(r.Metrics, func(m Metric) bool { return m.Better == Higher }))]
				cases = append(cases,
					NodesCase{Suite: r.Suite, Name: r.Name, Assumed: r.Assumed, Metric: m.Name, Unit: m.DisplayUnit()})
			}
			if m := r.Metric(cases[at].Metric); m != nil {
				cases[at].add(rank, m)
			}
		}
	}
	return cases
}

func (c *NodesCase) add(rank int, m *Metric) {
	c.Nodes = append(c.Nodes, NodeValue{rank, m.Median, m.Lo, m.Hi})
	if m.Better == Higher {
		c.Total = Finite(*cmp.Or(c.Total, new(float64)) + m.Median)
		c.Slowest = slices.MinFunc(c.Nodes, byMedian).Rank
	} else {
		c.Slowest = slices.MaxFunc(c.Nodes, byMedian).Rank
	}
}

func byMedian(a, b NodeValue) int { return cmp.Compare(a.Median, b.Median) }

// Ends are the least and the largest median of a node.
func (c *NodesCase) Ends() (lo, hi float64) {
	return slices.MinFunc(c.Nodes, byMedian).Median, slices.MaxFunc(c.Nodes, byMedian).Median
}
