//go:build !linux

package bench

func mostPagesOf(int) int { return 0 }
