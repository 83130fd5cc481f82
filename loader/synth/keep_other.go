//go:build !unix

package synth

import "io/fs"

// keep does nothing: a folder here has the permissions of its parent.
func keep(string, fs.FileInfo) error { return nil }
