package results

import (
	"encoding/json"
	"strings"
	"testing"
)

// What a GPU told is in the proof that is saved, and several cases of a GPU make one sentence.
func TestWatches(t *testing.T) {
	hot := 83.0
	watch := func(r *Result, g *GPUWatch) Result {
		r.Watch(g)
		return *r
	}
	of := func(device string, proof any) *Result {
		return &Result{Params: Params{{Key: "device", Value: device}}, Proof: RecordOf(proof)}
	}
	all := []Result{
		watch(of("cuda:0", &PCIeProof{}), &GPUWatch{Readings: 1, Temperature: &Range{61, 64}, Replays: &Range{7, 7}}),
		watch(of("cuda:1", &PipelineProof{}), &GPUWatch{Lacks: "no NVML"}),
		watch(of("cuda:0", &PipelineProof{}), &GPUWatch{Readings: 20, Throttled: 4, From: &hot, Reasons: []string{"heat"},
			Temperature: &Range{70, 83}, Power: &Range{250, 300}, SMClock: &Range{1410e6, 1980e6}, LinkGen: &Range{4, 4},
			LinkWidth: &Range{16, 16}, Replays: &Range{8, 8}, CPU: 2e-3}),
		watch(of("host", DiskProof{}), &GPUWatch{Readings: 1}), // no room
		{},
	}
	var cases []*Result
	for i := range all {
		saved, err := json.Marshal(all[i])
		if err != nil {
			t.Fatal(err)
		}
		read := new(Result)
		if err := json.Unmarshal(saved, read); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, read)
	}
	told := Watches(cases)
	if len(told) != 2 || told[1] != "cuda:1 while it was measured: not known: no NVML" {
		t.Fatalf("%q", told)
	}
	for _, want := range []string{"cuda:0 while", "61 to 83 C", "250 to 300 W", "SM clock 1410 to 1980 MHz",
		"link of generation 4, lanes 16", "so far 7 to 8", "throttled in 4 of 21 readings", "lowered by heat",
		"2.000 ms of CPU time"} {
		if !strings.Contains(told[0], want) {
			t.Errorf("%q lacks %q", told[0], want)
		}
	}
	if p := As[PipelineProof](cases[2].Proof); *p.GPU.From != hot {
		t.Errorf("%+v", p.GPU)
	}
}
