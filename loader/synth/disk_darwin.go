package synth

import "golang.org/x/sys/unix"

// blockSize is what free blocks are counted in, in bytes (statfs(2)).
func blockSize(s *unix.Statfs_t) uint64 { return uint64(s.Bsize) }
