package loader

import (
	"math/rand/v2"
	"slices"
)

// Order is how the samples of a set are visited.
type Order struct {
	Shuffle bool
	Seed    uint64
}

// Plan is the order in which the samples of a set are visited, in batches. It takes
// 4 bytes a sample.
type Plan struct {
	order []int32
	batch int
}

// Plan orders the samples of s, in batches of batch samples. The same seed gives the
// same plan on every machine. What is left at the end and is no whole batch is dropped,
// so a batch larger than the set gives a plan of length 0. A record of a tensor store is
// a batch as it is: there an entry of the plan is one sample, whatever batch says.
//
// A shuffled plan is a random permutation; that of a tar store visits the shards
// in random order and the samples of a shard as they lie, as WebDataset does
// without a shuffle buffer.
func (s *Set) Plan(o Order, batch int) *Plan {
	if s.Store == Tensor {
		batch = 1
	}
	if batch < 1 {
		return &Plan{batch: 1}
	}
	order := make([]int32, len(s.Samples))
	for i := range order {
		order[i] = int32(i)
	}
	if o.Shuffle {
		random := rand.New(rand.NewPCG(o.Seed, 0))
		if s.Store == Tar {
			order = s.shuffleShards(random)
		} else {
			random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
	}
	return &Plan{order[:len(order)/batch*batch], batch}
}

func (p *Plan) Len() int { return len(p.order) / p.batch }

// Batch returns the samples of batch i, as indices into Set.Samples. The caller
// must not change it.
func (p *Plan) Batch(i int) []int32 {
	return p.order[i*p.batch : (i+1)*p.batch : (i+1)*p.batch]
}

func (s *Set) shuffleShards(random *rand.Rand) []int32 {
	shards := make([][]int32, len(s.Files))
	for i, sample := range s.Samples {
		shards[sample.File] = append(shards[sample.File], int32(i))
	}
	random.Shuffle(len(shards), func(i, j int) { shards[i], shards[j] = shards[j], shards[i] })
	return slices.Concat(shards...)
}

// Part returns n batches of p from batch i on, from the start again each time p ends.
// It panics when p has none.
func (p *Plan) Part(i, n int) *Plan {
	from := i % p.Len() * p.batch
	if to := from + n*p.batch; to <= len(p.order) {
		return &Plan{p.order[from:to:to], p.batch}
	}
	order := make([]int32, 0, n*p.batch)
	for len(order) < n*p.batch {
		order = append(order, p.order[from:min(len(p.order), from+n*p.batch-len(order))]...)
		from = 0
	}
	return &Plan{order, p.batch}
}
