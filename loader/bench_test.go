package loader

import (
	"fmt"
	"testing"
)

// BenchmarkPipeline is the pipeline's own cost of a batch of 32: its samples are in memory
// and nothing is made of them.
func BenchmarkPipeline(b *testing.B) {
	s := fakeSet(Raw, 1024)
	memory := make([][]byte, len(s.Samples))
	for i := range memory {
		memory[i] = make([]byte, 600_000)
	}
	for _, workers := range []int{1, 2} {
		for _, part := range []int{0, 4} {
			b.Run(fmt.Sprintf("workers=%d/part=%d", workers, part), func(b *testing.B) {
				p, err := NewPipeline(b.Context(), s, s.Plan(Order{}, 32), &quietSink{newFakeSink(Slots(2), 32)},
					PipelineOptions{
						Prefetch: 2, Workers: workers, Part: part, Read: ReadOptions{Memory: memory},
						Work: func(int, Place, []byte, []byte) error { return nil },
					})
				must(b, err)
				defer p.Stop()
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.Step(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkOpen opens a folder of images and a shard, warm.
func BenchmarkOpen(b *testing.B) {
	for _, kind := range []string{Files, Tar} {
		b.Run(kind, func(b *testing.B) {
			s := store(b, kind, 1024, 1000)
			for b.Loop() {
				open(b, s.Root, "")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.Samples)), "ns/sample")
		})
	}
}
