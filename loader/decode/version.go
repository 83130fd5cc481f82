package decode

import (
	"bytes"
	"fmt"
	"os"
)

// maxLibrary is the size up to which a library is searched for its version, in bytes.
// Those of distributions are under 2 MB.
const maxLibrary = 64 << 20

// versionOf is what the file of a library says of itself: it has the line
// "libjpeg-turbo version 2.1.5 (build 20230203)". The interface has no call for it.
func versionOf(path string, api int) string {
	unknown := fmt.Sprintf("%d.x", api)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxLibrary {
		return unknown
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return unknown
	}
	_, after, found := bytes.Cut(data, []byte("libjpeg-turbo version "))
	if !found {
		return unknown
	}
	n := 0
	for n < len(after) && n < 16 && (after[n] == '.' || after[n] >= '0' && after[n] <= '9') {
		n++
	}
	if n == 0 {
		return unknown
	}
	return string(after[:n])
}
