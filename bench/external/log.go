package external

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// halfLog is how many bytes a log keeps of the start, and as many of the end: a loader that
// prints without end fills no disk.
const halfLog = 1 << 20

// boundedLog is a file of what a loader prints: the first and the last bytes of it. There is no
// file of nothing.
type boundedLog struct {
	file *os.File
	mu   sync.Mutex
	size int    // bytes that were printed
	end  []byte // the last of them, at most twice halfLog
}

func newLog(folder, pattern string) (*boundedLog, error) {
	file, err := os.CreateTemp(folder, pattern)
	return &boundedLog{file: file}, err
}

func (l *boundedLog) name() string { return l.file.Name() }

// Write never fails: a loader must not notice that its output cannot be kept.
func (l *boundedLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file.Write(text[:min(len(text), max(0, halfLog-l.size))])
	l.size += len(text)
	if l.end = append(l.end, text...); len(l.end) > 2*halfLog {
		l.end = slices.Delete(l.end, 0, len(l.end)-halfLog)
	}
	return len(text), nil
}

func (l *boundedLog) empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size == 0
}

// lastLine is the last line that is not blank, "" for none. A progress bar begins anew with a carriage return.
func (l *boundedLog) lastLine() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimSpace(string(l.end))
	return strings.TrimSpace(text[strings.LastIndexAny(text, "\r\n")+1:])
}

// Close writes the end, and says how much is left out before it.
func (l *boundedLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size == 0 {
		os.Remove(l.name())
	}
	behind := max(0, l.size-halfLog) // bytes after the first half
	if left := behind - halfLog; left > 0 {
		fmt.Fprintf(l.file, "\n... dlbench left out %d bytes here ...\n", left)
	}
	l.file.Write(l.end[len(l.end)-min(behind, halfLog):])
	return l.file.Close()
}
