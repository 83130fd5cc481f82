//go:build !linux

package external

import (
	"os"
	"syscall"
	"time"
)

type usage struct {
	cpu, main        time.Duration
	read, fromDevice int64
	processes        int
	known, mainKnown bool
}

const (
	supported      = false
	stopSignal     = syscall.SIGINT
	continueSignal = syscall.SIGINT
	endSignal      = syscall.SIGTERM
)

func (p *process) used() (u usage)    { return u }
func (p *process) memory() int64      { return 0 }
func (p *process) guard() func()      { return func() {} }
func (p *process) killAll()           { p.cmd.Process.Kill() }
func (p *process) signal(s os.Signal) {}
func ownGroup() *syscall.SysProcAttr  { return nil }
func endGroup(p *os.Process) error    { return p.Kill() }
func monotonic() float64              { return 0 }
func (p *process) settle()            {}
