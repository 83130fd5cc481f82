package pace

import (
	"fmt"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// threadState is what Sharpen may change of the calling thread.
func threadState(t *testing.T) string {
	t.Helper()
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	nice, err := unix.Getpriority(unix.PRIO_PROCESS, unix.Gettid())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("slack %d ns, nice %d", slack, 20-nice)
}

// A thread that was sharpened must go back to what it was: it serves other
// goroutines afterwards.
func TestSharpenIsUndone(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadState(t)
	restore := Sharpen()
	during := threadState(t)
	restore()
	if after := threadState(t); after != before || during == before {
		t.Errorf("thread state %q, before Sharpen %q, in between %q", after, before, during)
	}
}
