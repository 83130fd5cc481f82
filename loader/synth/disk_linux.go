package synth

import "golang.org/x/sys/unix"

// blockSize is what free blocks are counted in, in bytes (statfs(2)).
func blockSize(s *unix.Statfs_t) int64 {
	if s.Frsize > 0 {
		return int64(s.Frsize)
	}
	return int64(s.Bsize) // kernels before 2.6
}
