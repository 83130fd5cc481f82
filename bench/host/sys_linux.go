package host

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// usableCPUs lists the CPUs that the scheduler may use for this process, in
// ascending order: the affinity of its first thread, which threads that pin
// themselves do not change.
func usableCPUs() []int {
	set := unix.NewCPUSet(maxCPU + 1)
	if err := unix.SchedGetaffinityDynamic(os.Getpid(), set); err != nil {
		return countedCPUs()
	}
	var list []int
	for cpu := 0; cpu <= maxCPU; cpu++ {
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

// freeBytes of the file system that holds a folder, 0 if it is not there.
func freeBytes(dir string) int64 {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0
	}
	if size := int64(s.Bsize); size > 0 && s.Bavail <= uint64(math.MaxInt64/size) {
		return int64(s.Bavail) * size
	}
	return 0
}
