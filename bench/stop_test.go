package bench

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestEnough(t *testing.T) {
	rule := Rule{Samples: 10, Target: 0.01, Budget: time.Second, Timeout: 5 * time.Second, MaxNoisy: 3, MaxCheck: 3}
	exact := Rule{Samples: 12, Exact: true, Timeout: time.Second}
	late := errors.New("late")
	at := func(count, quiet int, spent time.Duration, halfWidth float64) progress {
		return progress{count: count, quiet: quiet, spent: spent, width: halfWidth}
	}
	for _, c := range []struct {
		name string
		rule Rule
		p    progress
		done bool
		why  string // part of it
	}{
		{"too few", rule, at(9, 9, 0, 0), false, ""},
		{"narrow", rule, at(10, 10, 0, 0.009), true, ""},
		{"wide", rule, at(10, 10, 0, 0.02), false, ""},
		{"wide at the budget's end", rule, at(40, 40, time.Second, 0.02), true, "not precise to ±1 %"},
		{"no interval at the budget's end", rule, progress{count: 40, quiet: 40, spent: time.Second,
			width: math.Inf(1)}, true, "not precise to"},
		{"assumed needs none", rule, progress{count: 10, quiet: 10}, true, ""},
		{"noisy rounds do not count", rule, at(12, 8, 0, 0), false, ""},
		{"always noisy", rule, at(30, 0, 0, 0), true, "too few quiet samples"},
		{"always noisy, assumed", rule, progress{count: 30}, true,
			"too few quiet samples"},
		{"timeout", rule, at(3, 3, 5*time.Second, 0), true, "--timeout 5s before 10"},
		{"self-check", rule, progress{count: 10, quiet: 10, check: late}, false, ""},
		{"self-check at last", rule, progress{count: 30, quiet: 30, check: late}, true, ""},
		{"exact, short", exact, progress{count: 11, spent: time.Second / 2}, false, ""},
		{"exact, out of time", exact, progress{count: 11, spent: time.Second}, true, "--timeout 1s before 12"},
		{"exact", exact, progress{count: 12, width: 1}, true, ""},
	} {
		done, why := c.rule.enough(c.p)
		if done != c.done || !strings.Contains(why, c.why) || (c.why == "") != (why == "") {
			t.Errorf("%s: %t %q, want %t %q", c.name, done, why, c.done, c.why)
		}
	}
}

func TestInRun(t *testing.T) {
	rule := Rule{Budget: time.Second}
	exact := Rule{Budget: time.Second, Exact: true}
	for _, c := range []struct {
		name     string
		rule     Rule
		restarts int
		spent    time.Duration
		want     int
	}{
		{"within the budget", rule, 3, time.Second / 2, 6},
		{"slow", rule, 3, time.Second, 2},
		{"slow, a part rounded up", rule, 4, time.Minute, 2},
		{"slow, in one run", rule, 0, time.Minute, 6},
		{"slow, as many as asked for", exact, 3, time.Minute, 6},
	} {
		if n := c.rule.inRun(6, c.restarts, c.spent); n != c.want {
			t.Errorf("%s: %d samples a run, want %d", c.name, n, c.want)
		}
	}
}

func TestRepetitions(t *testing.T) {
	for _, c := range []struct {
		once, least time.Duration
		want        int
	}{
		{time.Millisecond, 5 * time.Millisecond, 5},
		{3 * time.Millisecond, 5 * time.Millisecond, 2},
		{time.Second, 5 * time.Millisecond, 1},
		{time.Nanosecond, 5 * time.Millisecond, 1000},
		{0, 5 * time.Millisecond, 1000},
		{-time.Second, 5 * time.Millisecond, 1000},
	} {
		if n := Repetitions(c.once, c.least, 1000); n != c.want {
			t.Errorf("repetitions(%v, %v) = %d, want %d", c.once, c.least, n, c.want)
		}
	}
}

func TestLost(t *testing.T) {
	same := make([]time.Duration, 20)
	for i := range same {
		same[i] = 50 * time.Microsecond
	}
	if l := lost(same); l != 0 {
		t.Errorf("an even spin lost %.3f", l)
	}
	same[7] += time.Millisecond // one of twenty was interrupted for as long as all of them take
	if l := lost(same); l != 0.5 {
		t.Errorf("lost %.3f, want 0.5", l)
	}
}
