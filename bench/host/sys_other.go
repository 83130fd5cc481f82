//go:build !linux

package host

func affinity() []int { return nil }

func memLock() int64 { return 0 }

func deviceNumbers(string) (on, is string) { return "", "" }

func space(string) (free, total int64) { return 0, 0 }
