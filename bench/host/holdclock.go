package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// HoldClock holds a CPU to a clock, in cycles/s, by the limits of cpufreq, which only
// root may set, until restore is called.
func HoldClock(root string, cpu int, hz float64) (restore func(), err error) {
	dir := filepath.Join(root, sysCPU, "cpu"+strconv.Itoa(cpu), "cpufreq")
	limits := []string{"scaling_min_freq", "scaling_max_freq"}
	var before []string
	for _, name := range limits {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if os.IsNotExist(err) {
			return nil, fmt.Errorf("the clock of CPU %d cannot be set: no cpufreq here, as in most virtual machines", cpu)
		}
		if err != nil {
			return nil, fmt.Errorf("the clock of CPU %d cannot be set: %w", cpu, err)
		}
		before = append(before, strings.TrimSpace(string(text)))
	}
	set := func(name, value string) error {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(value)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		return err
	}
	restore = func() { // the least first goes down, the most up: either order may be refused, so twice
		for range 2 {
			for i, name := range limits {
				set(name, before[i])
			}
		}
	}
	khz := strconv.FormatInt(int64(hz/1e3), 10)
	// A least above the most is refused, so what lies in the way moves first.
	now, _ := strconv.ParseInt(before[1], 10, 64)
	order := limits
	if int64(hz/1e3) > now {
		order = []string{"scaling_max_freq", "scaling_min_freq"}
	}
	for _, name := range order {
		if err := set(name, khz); err != nil {
			restore()
			if os.IsPermission(err) {
				return nil, fmt.Errorf("the clock of CPU %d cannot be set: only root may", cpu)
			}
			return nil, fmt.Errorf("the clock of CPU %d cannot be set to %.2f GHz: %w", cpu, hz/1e9, err)
		}
	}
	return restore, nil
}
