package disk

import (
	"dlbench/bench"
	"dlbench/loader"
	"dlbench/results"
)

// laterPasses is how often files are opened and looked at after the first time.
const laterPasses = 5

// looksAtFiles says whether a case also measures how many files a second are opened and looked at: one of
// each data set of files is enough.
func looksAtFiles(env bench.Env, p params) bool {
	return p.Store == loader.Files && cold(p) && p.Readers == 1 && p.Order == results.UsualOrder[p.Store] &&
		!env.Disk.Emulated()
}

// metadataMetrics are files a second. They have no better side: what a cache of metadata holds decides.
func metadataMetrics() (all []bench.MetricDef) {
	for _, name := range results.MetadataMetrics {
		all = append(all, bench.MetricDef{Name: name, Unit: results.PerSecond})
	}
	return all
}

// observeMetadata records the passes over the files, one later pass a sample.
func (d *diskRunner) observeMetadata(r *bench.Recorder) {
	if len(d.passed) == 0 {
		return
	}
	if d.looked++; d.looked == 1 {
		r.Set("first_opens", d.passed[0].Opens)
		r.Set("first_stats", d.passed[0].Stats)
	}
	if d.looked < len(d.passed) {
		r.Set("opens", d.passed[d.looked].Opens)
		r.Set("stats", d.passed[d.looked].Stats)
	}
}
