package external

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// usage is what all processes of a loader used so far.
type usage struct {
	cpu        time.Duration
	main       time.Duration // of it, by the process that loops over the loader
	mainKnown  bool
	read       int64 // bytes, by system calls
	fromDevice int64 // bytes
	processes  int
	known      bool
}

// processes are the first process of the loader and those below it.
func (p *process) processes() (pids []int) {
	pids = []int{p.cmd.Process.Pid}
	for i := 0; i < len(pids); i++ {
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pids[i]))
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

// used is what the processes that run used, with those that they waited for.
func (p *process) used() (u usage) {
	const tick = time.Second / 100 // USER_HZ
	for _, pid := range p.processes() {
		one, err := procfs.NewProc(pid)
		if err != nil {
			continue
		}
		stat, err := one.Stat()
		if err != nil {
			continue
		}
		u.known = true
		u.processes++
		own := time.Duration(stat.UTime+stat.STime) * tick
		var ts unix.Timespec
		if unix.ClockGettime(int32(^pid)<<3|2, &ts) == nil { // the clock of a process: clock_getcpuclockid(3)
			own = time.Duration(ts.Nano())
		}
		u.cpu += own + time.Duration(stat.CUTime+stat.CSTime)*tick
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

// settleLimit is how long processes may take to stop.
const settleLimit = 200 * time.Millisecond

// settle waits until every thread of the loader has stopped: until then it takes time from
// whatever is measured next.
func (p *process) settle() {
	for late := time.Now().Add(settleLimit); time.Now().Before(late); time.Sleep(time.Millisecond) {
		running := false
		for _, pid := range p.processes() {
			threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
			for _, path := range threads {
				text, err := os.ReadFile(path)
				_, state, found := strings.Cut(string(text), ") ")
				running = running || err == nil && found && state != "" && !strings.ContainsAny(state[:1], "TtZX")
			}
		}
		if !running {
			return
		}
	}
}

// killAll ends every process that has the loader's cookie, wherever it went.
func (p *process) killAll() {
	unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL)
	for range 10 { // one may start another meanwhile
		found := false
		all, _ := procfs.AllProcs()
		for _, one := range all {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", one.PID))
			if err == nil && bytes.Contains(text, []byte(p.cookie)) {
				found = true
				unix.Kill(one.PID, unix.SIGKILL)
			}
		}
		if !found {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// signal sends a signal to all processes of the loader.
func (p *process) signal(s os.Signal) {
	number := s.(syscall.Signal)
	unix.Kill(-p.cmd.Process.Pid, number)
	for _, pid := range p.processes() {
		if group, err := unix.Getpgid(pid); err == nil && group != p.cmd.Process.Pid {
			unix.Kill(pid, number)
		}
	}
}

// guardScript ends a group, and the processes that have a cookie, when its standard input ends.
const guardScript = `trap "" HUP INT TERM
read -r line
kill -s KILL -- "-$0"
for at in $(grep -lsF "$1" /proc/[0-9]*/environ); do
	at=${at#/proc/}
	kill -s KILL "${at%/environ}"
done`

// guard starts what ends the loader when this program is killed: stopped processes would stay
// for good. Where there is no shell there is no guard. It returns what ends it.
func (p *process) guard() (stop func()) {
	c := exec.Command("/bin/sh", "-c", guardScript, strconv.Itoa(p.cmd.Process.Pid), p.cookie)
	c.SysProcAttr = ownGroup()
	if _, err := c.StdinPipe(); err != nil || c.Start() != nil { // this program's end is its end
		return func() {}
	}
	return func() {
		c.Process.Kill()
		c.Wait()
	}
}

// ownGroup starts a process in a group of its own. It is in this program's session, so that
// the kernel continues and ends stopped processes when this program is killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// endGroup ends a process that was started in a group of its own, and that group.
func endGroup(p *os.Process) error { return unix.Kill(-p.Pid, unix.SIGKILL) }

const (
	stopSignal     = unix.SIGSTOP
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
