package disk

import (
	"dlbench/bench"
	"dlbench/loader"
	"dlbench/results"
)

// remoteReaders are numbers of readers of an object store: each waits for one request at a time. The
// first two are those of a quick run.
var remoteReaders = []int{1, 16, 4, 64}

// remotePoints are those of an object store. One reader of shards in their order reads each as a stream;
// all others ask for ranges of them.
func remotePoints(env bench.Env) (all []params) {
	readers := remoteReaders
	if env.Quick {
		readers = readers[:2]
	}
	for store := range env.Data.Sets { // there is one
		p := params{Disk: env.Disk.Name, Store: store, Cache: results.Remote, Readers: 1}
		if store != loader.Files {
			all = append(all, p)
		}
		p.Order = results.Shuffled
		for _, p.Readers = range readers {
			all = append(all, p)
		}
	}
	return all
}

// remoteMetrics are those of an object store: the first byte of an answer apart from all of it, and the
// shares of requests that were repeated and throttled.
var remoteMetrics = []bench.MetricDef{bench.MetricTime, bench.MetricBandwidth, latency("first_byte"),
	{Name: "retried", Unit: results.Ratio, Better: results.Lower},
	{Name: "throttled", Unit: results.Ratio, Better: results.Lower},
	latency("read_latency"), latency("batch_latency"), bench.MetricImages, metricCPU}

// asked is what the object store was asked so far, of a case over one.
func (d *diskRunner) asked() (s loader.RemoteStats) {
	if d.Cache == results.Remote {
		s = d.set.Remote.Stats()
	}
	return s
}

// observeRemote records what a sample was answered, for which the store was asked before so much.
func (d *diskRunner) observeRemote(r *bench.Recorder, before loader.RemoteStats) {
	for _, t := range d.firsts.all {
		r.Observe("first_byte", t)
	}
	if asked := d.set.Remote.Stats().Since(before); asked.Requests > 0 {
		r.Set("retried", float64(asked.Retries)/float64(asked.Requests))
		r.Set("throttled", float64(asked.Throttled)/float64(asked.Requests))
	}
}

// reportRemote adds what an object store was asked since the case was opened.
func (d *diskRunner) reportRemote(r *results.Result, proof *results.DiskProof) {
	asked := d.set.Remote.Stats().Since(d.before)
	proof.Requests, proof.Retries, proof.Throttled = asked.Requests, asked.Retries, asked.Throttled
	if proof.Retries+proof.Throttled > 0 {
		r.Warnf("of %d requests the store throttled %d (503 or 429), and %d were repeated", proof.Requests, proof.Throttled,
			proof.Retries)
	}
	d.steady(r)
}
