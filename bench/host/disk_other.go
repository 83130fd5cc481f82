//go:build !linux

package host

func numbers(string) (on, is devno, ok bool) { return devno{}, devno{}, false }

func space(string) (free, total int64) { return 0, 0 }
