//go:build !linux

package external

import (
	"errors"
	"os"
	"syscall"
)

const (
	supported      = false
	continueSignal = syscall.SIGINT
	endSignal      = syscall.SIGTERM
)

func (p *process) used() (u usage)         { return u }
func (p *process) memory() int64           { return 0 }
func (p *process) processes() []int        { return nil }
func (p *process) signal(s syscall.Signal) {}
func (p *process) stop()                   {}
func ownGroup() *syscall.SysProcAttr       { return nil }
func endGroup(p *os.Process) error         { return p.Kill() }
func monotonic() float64                   { return 0 }

// Supervise is for Linux only.
func Supervise([]string) (int, error) {
	return 0, errors.New("loaders of your own are measured on Linux only")
}
