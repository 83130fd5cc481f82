package external

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestLogIsBounded(t *testing.T) {
	const line = 10
	const full = 2 * halfLog / line
	for lines, left := range map[int]int{0: 0, 1: 0, full / 2: 0, full: 0, full * 3 / 2: 1, full * 5 / 2: 1} {
		l, err := newLog(t.TempDir(), "*")
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for i := range lines {
			text := fmt.Sprintf("%09d\n", i)
			want.WriteString(text)
			if n, err := l.Write([]byte(text)); n != line || err != nil {
				t.Fatal(n, err)
			}
		}
		if last := l.lastLine(); lines > 0 && last != fmt.Sprintf("%09d", lines-1) || l.empty() != (lines == 0) {
			t.Errorf("%d lines: the last one is %q, empty %v", lines, last, l.empty())
		}
		l.Close()
		text, err := os.ReadFile(l.name())
		if lines == 0 {
			if !os.IsNotExist(err) {
				t.Errorf("a file of nothing: %v", err)
			}
			continue
		}
		all := want.String()
		if left > 0 {
			all = fmt.Sprintf("%s\n... dlbench left out %d bytes here ...\n%s", all[:halfLog], len(all)-2*halfLog,
				all[len(all)-halfLog:])
		}
		if err != nil || string(text) != all {
			t.Errorf("%d lines: %d bytes in the file, want %d, %v", lines, len(text), len(all), err)
		}
	}
}

// What a loader printed last explains its end, but a line without end must not fill the report.
func TestLastLine(t *testing.T) {
	for printed, want := range map[string]string{
		"":                                   "ended before it was stopped (code 0)",
		"one\ntwo\r\n\n":                     "(code 0): two; its output: ",
		" 1 %|#  |\r90 %|## |\rout of files": "(code 0): out of files; its output: ",
		strings.Repeat("x", 3*halfLog):       "(code 0): xxx",
	} {
		l, err := newLog(t.TempDir(), "*")
		if err != nil {
			t.Fatal(err)
		}
		l.Write([]byte(printed))
		p := &process{name: "mine", log: l, exited: make(chan struct{})}
		close(p.exited)
		if text := p.ended().Error(); !strings.Contains(text, want) || len(text) > longestReason+500 {
			t.Errorf("%.40q: an error of %d bytes, %.200s, want %q", printed, len(text), text, want)
		}
		l.Close()
	}
}
