//go:build !linux

package main

import (
	"errors"
	"os/exec"
	"time"
)

var errNotLinux = errors.New("comparing wants Linux: CPU affinity and CPU clocks")

func group(c *exec.Cmd) {}

func startOn(c *exec.Cmd, cpus []int) error { return errNotLinux }

func cpuTime() (time.Duration, error) { return 0, errNotLinux }
