package pagecache

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// What is in flight is waited for, however long the disk takes, and nothing else is: 8 MiB of
// read-ahead take a disk of 100 MB/s 84 ms.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		name    string
		flight  time.Duration // how long requests are in flight
		after   time.Duration // when what is looked for is so; 0: never
		unseen  bool
		settled bool
		most    time.Duration // that it lasts
	}{
		{"at once", 0, time.Nanosecond, false, true, 10 * time.Millisecond},
		{"8 MiB at 100 MB/s", 84 * time.Millisecond, 84 * time.Millisecond, false, true, 90 * time.Millisecond},
		{"8 MiB at 5 MB/s", 1700 * time.Millisecond, 1700 * time.Millisecond, false, true, 1710 * time.Millisecond},
		{"shortly after", 40 * time.Millisecond, 42 * time.Millisecond, false, true, 50 * time.Millisecond},
		{"mapped by another process", 0, 0, false, false, 20 * time.Millisecond},
		{"others read without end", time.Hour, 0, false, false, 2 * settleMost},
		{"unseen", time.Hour, 300 * time.Millisecond, true, true, 310 * time.Millisecond},
		{"unseen and never", time.Hour, 0, true, false, settleUnseen + 10*time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			start, settled := time.Now(), false
			err := Settle(t.Context(), func() (int64, bool) {
				if c.unseen {
					return 0, false
				}
				if time.Since(start) < c.flight {
					return 3, true
				}
				return 0, true
			}, func() (bool, error) {
				settled = c.after > 0 && time.Since(start) >= c.after || c.after == 1
				return settled, nil
			})
			if took := time.Since(start); err != nil || settled != c.settled || took > c.most {
				t.Errorf("%s: settled %v after %v, %v", c.name, settled, took, err)
			}
		})
	}
}

func TestSettleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := func() (int64, bool) { return 1, true }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := Settle(ctx, busy, func() (bool, error) { return false, nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		gone := errors.New("gone")
		if err := Settle(t.Context(), busy, func() (bool, error) { return false, gone }); !errors.Is(err, gone) {
			t.Errorf("%v", err)
		}
	})
}
