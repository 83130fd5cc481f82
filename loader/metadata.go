package loader

import (
	"os"
	"path/filepath"
	"time"
)

// Metadata is how many files a second are opened and closed, and looked at (stat).
type Metadata struct{ Opens, Stats float64 }

// mostLookedAt bounds the files of a pass, and lookLimit its time for each of the two.
const (
	mostLookedAt = 2000
	leastLooked  = 8
	lookLimit    = 200 * time.Millisecond
)

// MeasureMetadata goes so many times through the first files of a plan: every other one is opened and
// closed, the rest are looked at. The first pass is what a cache of metadata has not seen for a while, or
// never; later ones may come from it. It is nil for fewer than a few files, and of an object store.
func (s *Set) MeasureMetadata(p *Plan, passes int) (all []Metadata, err error) {
	if s.Remote != nil || s.Store != Files {
		return nil, nil
	}
	var halves [2][]string
	for i, sample := range p.order[:min(len(p.order), 2*mostLookedAt)] {
		halves[i%2] = append(halves[i%2], s.Files[s.Samples[sample].File].Path)
	}
	r, err := openRoot(s.Root)
	if err != nil {
		return nil, err
	}
	defer r.close()
	open := func(path string) {
		if h, err := r.open(path, false); err == nil {
			h.close()
		}
	}
	stat := func(path string) { os.Stat(filepath.Join(s.Root, filepath.FromSlash(path))) }
	for range passes {
		var m Metadata
		halves[0], m.Opens = pass(halves[0], open)
		halves[1], m.Stats = pass(halves[1], stat)
		if min(len(halves[0]), len(halves[1])) < leastLooked {
			return nil, nil
		}
		all = append(all, m)
	}
	return all, nil
}

// pass calls do for paths while there is time, and returns those that it got to and how many a second these
// are. A path that is gone counts, too.
func pass(paths []string, do func(path string)) (done []string, rate float64) {
	began := time.Now()
	for i, path := range paths {
		do(path)
		if took := time.Since(began); took > lookLimit {
			return paths[:i+1], float64(i+1) / took.Seconds()
		}
	}
	return paths, float64(len(paths)) / max(time.Since(began).Seconds(), 1e-9)
}
