package bench

import (
	"os"
	"strconv"
	"strings"
)

// residentBytes is the memory of this process that is in RAM, 0 if unknown.
func ResidentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
