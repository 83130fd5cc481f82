package external

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// descendants are the processes below one, parents before their children.
func descendants(pid int) (pids []int) {
	for i := -1; i < len(pids); i++ {
		if i >= 0 {
			pid = pids[i]
		}
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			for _, field := range strings.Fields(string(text)) {
				if pid, err := strconv.Atoi(field); err == nil {
					pids = append(pids, pid)
				}
			}
		}
	}
	return pids
}

// processes are those of the loader.
func (p *process) processes() []int { return descendants(p.cmd.Process.Pid) }

// used is what the processes that run used, with those that they, or the supervisor, waited for.
func (p *process) used() (u usage) {
	const tick = time.Second / 100 // USER_HZ
	supervisor := p.cmd.Process.Pid
	for _, pid := range append(p.processes(), supervisor) {
		one, err := procfs.NewProc(pid)
		if err != nil {
			continue
		}
		stat, _ := one.Stat() // of one that has ended since: nothing
		own := time.Duration(stat.UTime+stat.STime) * tick
		var ts unix.Timespec
		if unix.ClockGettime(int32(^pid)<<3|2, &ts) == nil { // the clock of a process: clock_getcpuclockid(3)
			own = time.Duration(ts.Nano())
		}
		u.cpu += time.Duration(stat.CUTime+stat.CSTime) * tick
		if pid != supervisor {
			u.processes++
			u.cpu += own
		}
		if pid == p.main {
			u.main, u.mainKnown = own, true
		}
		if io, err := one.IO(); err == nil {
			u.read += int64(io.RChar)
			u.fromDevice += int64(io.ReadBytes)
		}
	}
	return u
}

// memory is the bytes that all processes hold now, of shared pages their share. Counting them
// takes milliseconds a process.
func (p *process) memory() (bytes int64) {
	for _, pid := range p.processes() {
		one, err := procfs.NewProc(pid)
		if err != nil {
			continue
		}
		if maps, err := one.ProcSMapsRollup(); err == nil {
			bytes += int64(maps.Pss)
		} else if stat, err := one.Stat(); err == nil {
			bytes += int64(stat.ResidentMemory())
		}
	}
	return bytes
}

// stopLimit is how long processes may take to stop.
const stopLimit = 200 * time.Millisecond

// stop stops all processes of the loader, and waits until every thread has: until then it takes
// time from whatever is measured next.
func (p *process) stop() {
	for late := time.Now().Add(stopLimit); time.Now().Before(late); time.Sleep(time.Millisecond) {
		p.signal(unix.SIGSTOP)
		if !p.running() {
			return
		}
	}
}

// running tells whether a thread of the loader has not stopped.
func (p *process) running() bool {
	for _, pid := range p.processes() {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, path := range threads {
			text, err := os.ReadFile(path)
			_, state, found := strings.Cut(string(text), ") ")
			if err == nil && found && state != "" && !strings.ContainsAny(state[:1], "TtZX") {
				return true
			}
		}
	}
	return false
}

// signal sends a signal to all processes of the loader.
func (p *process) signal(s syscall.Signal) {
	for _, pid := range p.processes() {
		unix.Kill(pid, s)
	}
}

// ownGroup starts a process in a group of its own, which an interrupt from the terminal does not
// reach.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// endGroup ends a process that was started in a group of its own, and that group.
func endGroup(p *os.Process) error { return unix.Kill(-p.Pid, unix.SIGKILL) }

const (
	continueSignal = unix.SIGCONT
	endSignal      = unix.SIGTERM
)

// monotonic is the time of CLOCK_MONOTONIC, s.
func monotonic() float64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return float64(ts.Nano()) / 1e9
}

// supported is whether loaders can be started here.
const supported = true
