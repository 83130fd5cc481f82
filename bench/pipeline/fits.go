package pipeline

import (
	"fmt"
	"slices"
	"strconv"

	"dlbench/bench"
	"dlbench/bench/pagecache"
	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/loader/transform"
	"dlbench/results"
)

// source is the set of the case's strategy.
func (r *pipelineRunner) source() *loader.Set {
	switch r.strategy {
	case results.Offline:
		return r.env.Data.Sets[loader.Raw]
	case results.StrategyTensor:
		return r.env.Data.Sets[loader.Tensor]
	}
	return r.env.Data.Images
}

func (r *pipelineRunner) isFree(part string) bool { return slices.Contains(r.free, part) }

// null tells whether batches are taken as they are.
func (r *pipelineRunner) null() bool {
	return r.isFree(results.PartRead) && r.isFree(results.PartPreprocess)
}

// sample is what samples are made into.
func (r *pipelineRunner) sample() transform.Options {
	return transform.Options{Height: r.batch.Height, Width: r.batch.Width, DType: r.batch.DType, Layout: results.NHWC}
}

// unable says why a case cannot run here, "" if it can.
func (r *pipelineRunner) unable() string {
	if r.null() {
		return ""
	}
	set := r.source()
	switch {
	case set == nil && r.strategy == results.Online:
		return "the data given holds no image files to decode"
	case set == nil:
		return "the data given has no such store: dlbench dataset pack makes one of images"
	case set.Plan(loader.Order{}, r.batch.Images).Len() < 1:
		return fmt.Sprintf("%d samples are less than one batch of %d", len(set.Samples), r.batch.Images)
	}
	if r.cache == results.Direct {
		switch {
		case r.isFree(results.PartRead):
			return "nothing is read: cache=" + results.CacheUsed
		case r.disk.Emulated():
			return "an emulated disk reads from the page cache: cache=" + results.CacheUsed
		case r.env.Data.Disk.Kind == results.DiskMemory:
			return pagecache.InMemoryOnly(r.env.Data.Disk)
		case !pagecache.Controlled:
			return pagecache.NotControlled
		}
	}
	switch r.strategy {
	case results.Online:
		if r.batch.Channels != 3 {
			return fmt.Sprintf("images have 3 channels, not %d", r.batch.Channels)
		}
	case results.Offline:
		return loader.CanPrepare(set.Record, r.sample())
	case results.StrategyTensor:
		if rec := set.Record; rec.Bytes() != r.batch.Bytes() || rec.Images != r.batch.Images {
			return fmt.Sprintf("the store holds batches of %d, %d bytes each, not %s", rec.Images, rec.Bytes(), r.batch)
		}
	}
	return ""
}

// slotBytes is the host memory that a batch in the making takes.
func (r *pipelineRunner) slotBytes() int64 {
	n := r.batch.Bytes()
	if r.mem == results.Staged {
		n *= 2
	}
	return n
}

// announced is the memory that the pipeline takes, in bytes: batches, and what each
// worker reads and decodes into.
func (r *pipelineRunner) announced() int64 {
	n := int64(loader.Slots(r.prefetch)) * r.slotBytes()
	if r.null() {
		return n
	}
	set := r.source()
	largest, all := int64(loader.BlockBytes), int64(0)
	for _, s := range set.Samples {
		largest = max(largest, s.Len)
		all += s.Len
	}
	if r.strategy == results.Online && !r.isFree(results.PartPreprocess) {
		largest += decodedPixel * r.env.Data.LargestImage()
	}
	n += int64(r.workers) * largest
	if r.isFree(results.PartRead) {
		n += min(all, mostHeld)
	}
	if r.device.Info().Assumed && r.mem == "pageable" {
		n += 1 << 20 // through which a driver carries pageable memory
	}
	return n
}

// decodedPixel is what a decoded pixel takes, in bytes.
const decodedPixel = 4

// fits refuses a prefetch for which there is no memory, and says which there is.
func (r *pipelineRunner) fits(prefetch string) error {
	have := r.env.Host.Memory.Available
	if need := r.announced(); have == 0 || need <= have/2 {
		return nil
	}
	rest := have/2 - (r.announced() - int64(loader.Slots(r.prefetch))*r.slotBytes())
	fit := rest/r.slotBytes() - int64(loader.Slots(0))
	if fit < 0 {
		return &bench.UsageError{Flag: "--batch", Value: strconv.Itoa(r.batch.Images), Want: fmt.Sprintf("one batch of %s and its workers do not fit into half of the %s that are available",
			results.FormatBytes(r.batch.Bytes()), results.FormatBytes(have))}
	}
	return &bench.UsageError{Flag: "-a", Value: "prefetch=" + prefetch, Want: fmt.Sprintf("the batches take %s, half of the %s that are available has room for prefetch=%d",
		results.FormatBytes(r.announced()), results.FormatBytes(have), fit)}
}

// usualDecoder is the decoder that runs here.
func usualDecoder() string {
	if _, err := decode.Library(); err != nil {
		return decode.Go
	}
	return decode.Turbo
}
