package loader

import (
	"testing"
	"time"

	"dlbench/bench/pace"
)

// lateClock is a manual clock whose waits end late.
type lateClock struct {
	pace.Manual
	late time.Duration
}

func (c *lateClock) Until(t time.Duration) {
	if c.Now() < t {
		c.Manual.Until(t + c.late)
	}
}

func TestEmulatedDisk(t *testing.T) {
	const rate, latency, size, n = 100e6, 10 * time.Millisecond, 100_000, 8
	transfer := pace.Length(size, rate)
	for _, tt := range []struct {
		name    string
		store   string
		latency time.Duration
		seek    bool
		order   []int32
		want    time.Duration
		reads   int
	}{
		{"a stream", Raw, 0, false, []int32{7, 5, 3}, 3 * transfer, 3},
		{"solid state, one reader", Raw, latency, false, []int32{7, 5, 3}, 3 * (latency + transfer), 3},
		{"hard disk, shuffled", Raw, latency, true, []int32{7, 5, 3}, 3 * (latency + transfer), 3},
		{"hard disk, in order", Raw, latency, true, count(n), latency + pace.Length(7*102400+size, rate), 1},
	} {
		s := store(t, tt.store, n, size)
		for _, late := range []time.Duration{0, 50 * time.Microsecond} {
			clock := &lateClock{late: late}
			disk := &pace.Disk{Rate: rate, Latency: tt.latency, Seek: tt.seek}
			var observed time.Duration
			r := reader(t, s, ReadOptions{Disk: disk, Clock: clock, Observe: func(d time.Duration, _ int) { observed += d }})
			st, err := r.Read(tt.order, nil)
			if err != nil {
				t.Fatal(err)
			}
			// However late each wait was, only the last one's is left.
			want := tt.want + late
			if got := clock.Now(); got < want-time.Microsecond || got > want+time.Microsecond || st.Nanos != int64(got) {
				t.Errorf("%s, %v late: %v, stats %v, want %v", tt.name, late, got, time.Duration(st.Nanos), want)
			}
			if st.Overruns != 0 || st.Reads != tt.reads {
				t.Errorf("%s: %+v", tt.name, st)
			}
			if d := observed - tt.want; d < -time.Microsecond || d > time.Microsecond {
				t.Errorf("%s, %v late: reads took %v, want %v", tt.name, late, observed, tt.want)
			}
		}
	}
}

// What the program does between reads is not the disk's: it is not made up for.
func TestEmulatedDiskWaitsForTheProgram(t *testing.T) {
	const work = time.Millisecond
	s := store(t, Files, 4, 100_000)
	clock := &lateClock{late: 30 * time.Microsecond}
	r := reader(t, s, ReadOptions{Disk: &pace.Disk{Rate: 100e6}, Clock: clock})
	st, err := r.Read(count(4), func(int32, []byte) error {
		clock.Advance(work)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := 4*work + pace.Length(400_006, 100e6) + clock.late
	if got := clock.Now(); got < want-time.Microsecond || got > want+time.Microsecond {
		t.Errorf("%v, want %v", got, want)
	}
	if time.Duration(st.Nanos) > want-4*work+4*clock.late {
		t.Errorf("work counts as reading: %v", time.Duration(st.Nanos))
	}
}

// stepClock moves by itself, as while a read really takes long.
type stepClock struct {
	pace.Manual
	step time.Duration
}

func (c *stepClock) Now() time.Duration {
	c.Advance(c.step)
	return c.Manual.Now()
}

func TestOverrun(t *testing.T) {
	s := store(t, Files, 4, 1000)
	for _, tt := range []struct {
		step time.Duration
		want int
	}{{time.Nanosecond, 0}, {5 * time.Millisecond, 4}} {
		r := reader(t, s, ReadOptions{Disk: &pace.Disk{Rate: 1e6}, Clock: &stepClock{step: tt.step}}) // 1 ms each
		st, err := r.Read(count(4), nil)
		if err != nil {
			t.Fatal(err)
		}
		if st.Overruns != tt.want {
			t.Errorf("%v a look at the clock: %d overruns, want %d", tt.step, st.Overruns, tt.want)
		}
	}
}
