package results

import (
	"reflect"
	"strings"
	"testing"
)

// What another version wrote of a case survives load, merge and save; other fields of its are
// ignored, as is the mark that some editors put first.
func TestUnknownSurvives(t *testing.T) {
	const text = "\xef\xbb\xbf" + `{"schema_version":1,"status":"complete","tool":{"name":"dlbench"},"mood":{"a":[1]},
		"results":[{"suite":"pcie","name":"pcie/mem=pinned/colour=3","status":"ok","shade":3,
		"params":{"mem":"pinned","colour":3,"dtype":"float16"},
		"metrics":[{"name":"time","unit":"s","median":1,"samples":[{"value":1,"n":1}]}],
		"proof":{"link":"gen4x16","numa_node":"unknown","later":{"a":[1,null]}},"fit":{"model":"cubic","order":3}}]}`
	var reports []*Report
	for i := range 2 {
		r, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		r.Results[0].Metrics[0].Samples[0].Value += float64(i) // another run
		reports = append(reports, r)
	}
	for name, r := range map[string]*Report{"loaded": reports[0], "merged": mustMerge(t, reports...)} {
		saved := strings.Join(strings.Fields(string(encode(t, r))), "")
		for _, want := range []string{`"later":{"a":[1,null]}`, `"colour":3`, `"order":3`} {
			if !strings.Contains(saved, want) && (name == "loaded" || want != `"order":3`) { // a fit is of one run
				t.Errorf("%s: no %s in %s", name, want, saved)
			}
		}
		want := Params{{"mem", "pinned", false}, {"colour", int64(3), false}, {"dtype", "float16", true}}
		if p := r.Results[0].Params; !reflect.DeepEqual(p, want) {
			t.Errorf("%s: params %+v, want %+v", name, p, want)
		}
		if p := As[PCIeProof](r.Results[0].Proof); p.Link != "gen4x16" || p.NUMANode.String() != "unknown" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// One field that does not fit leaves the others.
func TestAs(t *testing.T) {
	odd := RecordOf(map[string]any{"link": 4, "groups": 3, "normalised_images_verified": "many", "huge_pages": 0.5,
		"bytes_verified": true})
	p := As[PCIeProof](odd)
	want := PCIeProof{Groups: new(3), HugePages: &OrUnknown[float64]{Value: 0.5}, BytesVerified: true}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("%+v, want %+v", p, want)
	}
	params, err := ParamsOf(PipelineParams{Device: "cuda:0", Prefetch: 2, Step: 216e6},
		func(string, string) bool { return false })
	if err != nil || As[PipelineParams](params) != (PipelineParams{Device: "cuda:0", Prefetch: 2, Step: 216e6}) {
		t.Errorf("%v, %v", params, err)
	}
	texts := Params{{Key: "bytes", Value: "many"}, {Key: "mem", Value: "pinned"}}
	if p := As[PCIeParams](texts); p != (PCIeParams{Mem: "pinned"}) {
		t.Errorf("a text for a number: %+v", p)
	}
	for _, step := range []any{"bogus", "", int64(5), true} {
		if p := As[PipelineParams](Params{{Key: "step", Value: step}}); p.Step >= 0 {
			t.Errorf("step %v is %v", step, p.Step)
		}
	}
	for _, key := range []string{"step", "cpus"} {
		if text := params.Text(key); text != map[string]string{"step": "216ms", "cpus": "all"}[key] {
			t.Errorf("%s is %q", key, text)
		}
	}
}
