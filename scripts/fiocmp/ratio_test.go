package main

import "testing"

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		r    ratio
		want string
	}{
		{ratio{ratio: 1, lo: 0.97, hi: 1.03, spread: 0.02}, "PASS"},
		{ratio{ratio: 1, lo: 0.93, hi: 1.03, spread: 0.02}, "inconclusive"}, // across a limit
		{ratio{ratio: 0.9, lo: 0.88, hi: 0.94, spread: 0.02}, "DIFFERS"},
		{ratio{ratio: 1.1, lo: 1.06, hi: 1.2, spread: 0.02}, "DIFFERS"},
		{ratio{ratio: 1, lo: 0.97, hi: 1.03, spread: 0.2}, "inconclusive"}, // fio itself was not steady
		{ratio{ratio: 0.5, lo: 0.4, hi: 0.6, spread: 0.2}, "inconclusive"},
	} {
		if got := c.r.verdict(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.r, got, c.want)
		}
	}
}
