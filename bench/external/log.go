package external

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// halfLog is how many bytes a log keeps of the start, and as many of the end: a loader that
// prints without end fills no disk.
const halfLog = 1 << 20

// boundedLog is a file of what a loader prints: the first and the last bytes of it. There is no
// file of nothing.
type boundedLog struct {
	file  *os.File
	mu    sync.Mutex
	begin int    // bytes in the file
	end   []byte // those that follow, at most twice halfLog
	left  int64  // bytes between them that are left out
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
	n := min(len(text), halfLog-l.begin)
	l.file.Write(text[:n])
	l.begin += n
	if l.end = append(l.end, text[n:]...); len(l.end) > 2*halfLog {
		l.left += int64(l.cut())
	}
	return len(text), nil
}

// cut leaves halfLog bytes of the end, and returns how many more there were.
func (l *boundedLog) cut() int {
	over := max(0, len(l.end)-halfLog)
	l.end = append(l.end[:0], l.end[over:]...)
	return over
}

func (l *boundedLog) empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begin == 0
}

// lastLine is the last line that is not blank, "" for none.
func (l *boundedLog) lastLine() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := make([]byte, min(l.begin, longestRecord))
	l.file.ReadAt(text, int64(l.begin-len(text)))
	text = append(text, l.end...)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// Close writes the end, and says how much is left out before it.
func (l *boundedLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begin == 0 {
		os.Remove(l.name())
	}
	if l.left += int64(l.cut()); l.left > 0 {
		fmt.Fprintf(l.file, "\n... dlbench left out %d bytes here ...\n", l.left)
	}
	l.file.Write(l.end)
	l.end = nil
	return l.file.Close()
}
