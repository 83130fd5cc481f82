package external

import (
	"bytes"
	"testing"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/results"
)

// FuzzRecord holds that no line of a loader passes for a batch with a number of images, bytes
// or times that cannot be.
func FuzzRecord(f *testing.F) {
	for _, line := range []string{
		`{"dlbench":1,"time":2.5,"python":"3.11.7","software":{"torch":"2.9"}}`,
		`{"enter":1.5,"leave":1.75,"images":32,"bytes":19440000}`,
		`{"enter":2,"leave":1,"images":-1}`, `{"enter":1e308,"leave":1e309}`, `{"pixels":{"mean":1}}`,
		`{"error":"x","file":"a.jpg"}`, `epoch 1`, `[1,2]`, `{"images":9223372036854775807,"enter":0,"leave":0}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return
		}
		b, err := parseRecord(line)
		if err != nil || b.Enter == nil {
			return
		}
		r := &runner{env: bench.Env{Options: bench.Options{Batch: theory.ArticleBatch},
			Host: results.Host{Memory: results.Memory{Total: 1 << 30}}}}
		if r.check(b) != nil {
			return
		}
		if b.Images < 1 || b.Images > mostImages || b.Bytes < 0 || b.Bytes > 1<<30 || !(b.Leave >= *b.Enter) || *b.Enter < 0 {
			t.Errorf("%s passes for a batch", line)
		}
	})
}
