//go:build !((linux || darwin || windows) && (amd64 || arm64))

package decode

import "errors"

func openLibrary(string) (uintptr, error) {
	return 0, errors.New("no library is opened on this kind of machine")
}

func symbol(uintptr, string) (uintptr, error) { return 0, errNotFound }

func fileOf(path string, _ uintptr) string { return path }

func (t *turbo) call(string, int) uintptr { panic("no library can be opened here") }
