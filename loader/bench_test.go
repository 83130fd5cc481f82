package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"dlbench/bench/theory"
)

// Benchmarks write their sets once, below DLBENCH_BENCH_DATA or the temporary folder.
func benchSet(b *testing.B, kind string, count int) *Set {
	b.Helper()
	dir := os.Getenv("DLBENCH_BENCH_DATA")
	if dir == "" {
		dir = b.TempDir()
	}
	dir = filepath.Join(dir, fmt.Sprintf("%s-%d", kind, count))
	if s, err := Open(dir, OpenOptions{}); err == nil {
		return s
	}
	a := theory.ArticleBatch
	r := Record{Images: 1, Height: a.Height, Width: a.Width, Channels: a.Channels, DType: a.DType, Layout: "nhwc"}
	if kind == Tensor {
		r.Images = a.Images
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	writeStore(b, dir, kind, count, 110_000, r)
	return open(b, dir, "")
}

// BenchmarkRead reads a batch of 32 images, or a record of 32.
func BenchmarkRead(b *testing.B) {
	for _, kind := range Stores {
		n := 1024
		if kind == Tensor {
			n = 32
		}
		s := benchSet(b, kind, n)
		for _, shuffled := range []bool{false, true} {
			p := s.Plan(Order{Shuffle: shuffled, Seed: 1}, 32)
			for _, o := range []ReadOptions{{}, {HugePages: true}, {Direct: true}, {Direct: true, HugePages: true}} {
				b.Run(fmt.Sprintf("store=%s/shuffled=%v/direct=%v/huge=%v", kind, shuffled, o.Direct, o.HugePages),
					func(b *testing.B) {
						r, err := NewReader(s, o)
						if err != nil {
							b.Skip(err)
						}
						defer r.Close()
						b.ReportAllocs()
						var total Stats
						i := 0
						for b.Loop() {
							st, err := r.Read(p.Batch(i%p.Len()), nil)
							if err != nil {
								b.Fatal(err)
							}
							total.Add(st)
							i++
						}
						b.SetBytes(total.Bytes / int64(b.N))
						b.ReportMetric(float64(total.Reads)/float64(b.N), "reads/op")
					})
			}
		}
	}
}

// BenchmarkPipeline is the pipeline's own cost of a batch of 32: its samples are in memory
// and nothing is made of them.
func BenchmarkPipeline(b *testing.B) {
	s := benchSet(b, Raw, 1024)
	held := make([][]byte, len(s.Samples))
	for i := range held {
		held[i] = make([]byte, s.Samples[i].Len)
	}
	for _, workers := range []int{1, 2} {
		for _, part := range []int{0, 4} {
			b.Run(fmt.Sprintf("workers=%d/part=%d", workers, part), func(b *testing.B) {
				p, err := NewPipeline(b.Context(), s, s.Plan(Order{}, 32), &quietSink{newFakeSink(Slots(2), 32)},
					PipelineOptions{
						Prefetch: 2, Workers: workers, Part: part, Read: ReadOptions{Memory: held},
						Work: func(int, Place, []byte, []byte) error { return nil },
					})
				if err != nil {
					b.Fatal(err)
				}
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
			s := benchSet(b, kind, 1024)
			for b.Loop() {
				open(b, s.Root, "")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.Samples)), "ns/sample")
		})
	}
}

// BenchmarkPlan shuffles as many samples as ImageNet has.
func BenchmarkPlan(b *testing.B) {
	s := fakeSet(Files, 1_281_167)
	for b.Loop() {
		s.Plan(Order{Shuffle: true, Seed: 1}, 32)
	}
}
