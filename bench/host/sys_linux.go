package host

import (
	"cmp"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// affinity lists the CPUs that the scheduler may use for this process, in
// ascending order: those of its first thread, which threads that pin themselves do
// not change. It is nil if the kernel does not tell.
func affinity() (list []int) {
	set := unix.NewCPUSet(maxCPU + 1)
	if err := unix.SchedGetaffinityDynamic(os.Getpid(), set); err != nil {
		return nil
	}
	for cpu := range maxCPU + 1 {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}

// memLock is RLIMIT_MEMLOCK in bytes, 0 for unlimited or unknown. A limit of
// nothing is given as 1.
func memLock() int64 {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &r); err != nil || r.Cur > math.MaxInt64 {
		return 0
	}
	return max(int64(r.Cur), 1)
}

// space is the size of the file system that holds path, in bytes; 0 if unknown.
// Free is what users other than root may fill.
func space(path string) (free, total int64) {
	var s unix.Statfs_t
	unix.Statfs(path, &s)                     // zeros after an error
	size := uint64(cmp.Or(s.Frsize, s.Bsize)) // what the counts are in: statfs(2) of NFS, virtiofs
	return max(0, int64(s.Bavail*size)), max(0, int64(s.Blocks*size))
}
