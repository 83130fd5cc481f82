package main

import (
	"runtime"
	"runtime/debug"

	"dlbench/cuda"
	"dlbench/results"
)

// release is the version of this source; CHANGELOG.md says what is in it.
const release = "0.1.0"

func version() string {
	t := tool()
	s := t.Version
	if t.Commit != "" {
		s += " " + t.Commit
	}
	if t.Dirty {
		s += " (changed)"
	}
	return s + " " + t.Go + ", CUDA through " + cuda.Backend
}

// tool identifies this build for reports.
func tool() results.Tool {
	t := results.Tool{Name: "dlbench", Version: release, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				t.Commit = s.Value[:min(12, len(s.Value))]
			case "vcs.modified":
				t.Dirty = s.Value == "true"
			}
		}
	}
	return t
}
