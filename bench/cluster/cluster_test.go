package cluster

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func join(t *testing.T, dir string, rank, size int) *Node {
	t.Helper()
	n, err := Join(dir, Place{Rank: rank, Size: size}, func(string) {})
	if err != nil {
		t.Error(err)
	}
	return n
}

// Nodes that take different times for each turn begin each of them together.
func TestTurns(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		const size, turns = 4, 5
		var began [turns][size]time.Time
		var firsts [size]bool
		var all sync.WaitGroup
		for rank := range size {
			all.Go(func() {
				time.Sleep(time.Duration(rank) * time.Second) // not all come at once
				n := join(t, dir, rank, size)
				for turn := range turns {
					if err := n.Wait(t.Context(), Turn{0, 1, 0, turn, 0}); err != nil {
						t.Error(err)
					}
					began[turn][rank] = time.Now()
					time.Sleep(time.Duration(1+(rank*7+turn*3)%11) * 100 * time.Millisecond)
				}
				firsts[rank], _ = n.Leave(t.Context(), "")
				if len(n.Lost) > 0 || len(n.Skews) != turns-1 {
					t.Errorf("rank %d: lost %v, skews %v", rank, n.Lost, n.Skews)
				}
			})
		}
		all.Wait()
		for turn, at := range began {
			for rank := range at {
				if apart := at[rank].Sub(at[0]).Abs(); apart > 2*quickPoll {
					t.Errorf("turn %d: rank %d began %v apart from rank 0", turn, rank, apart)
				}
			}
		}
		if firsts != [size]bool{0: true} {
			t.Errorf("first to join reports: %v, want rank 0 alone", firsts)
		}
	})
}

// A node that dies, never comes, or gives up ends nobody's turns.
func TestLost(t *testing.T) {
	for name, lose := range map[string]func(*Node, context.Context) string{
		"gave no sign of life": func(n *Node, _ context.Context) string { n.stop(); return "" },
		"was interrupted":      func(n *Node, ctx context.Context) string { n.Leave(ctx, "was interrupted"); return "" },
		"did not come":         nil,
	} {
		for gone := range 3 {
			t.Run(fmt.Sprint(name, " ", gone), func(t *testing.T) {
				dir := t.TempDir()
				synctest.Test(t, func(t *testing.T) {
					var all sync.WaitGroup
					firsts := make([]bool, 3)
					for rank := range 3 {
						if lose == nil && rank == gone {
							continue
						}
						n := join(t, dir, rank, 3)
						n.began = n.began.Add(5*time.Second - comeWithin) // minutes of polling take long here, too
						all.Go(func() {
							for turn := range 4 {
								if rank == gone && turn == 2 {
									lose(n, t.Context())
									return
								}
								if err := n.Wait(t.Context(), Turn{turn}); err != nil {
									t.Errorf("rank %d: %v", rank, err)
								}
							}
							firsts[rank], _ = n.Leave(t.Context(), "")
							if why := n.Lost[gone]; !strings.Contains(why, name) || len(n.Lost) != 1 {
								t.Errorf("rank %d: lost %v, want %d: %s", rank, n.Lost, gone, name)
							}
						})
					}
					all.Wait()
					want := make([]bool, 3)
					want[map[bool]int{true: 1, false: 0}[gone == 0]] = true
					if fmt.Sprint(firsts) != fmt.Sprint(want) {
						t.Errorf("first: %v, want %v", firsts, want)
					}
				})
			})
		}
	}
}

// A node that skips cases which others measure holds up nobody, and is held up by nobody for long.
func TestSkippedTurns(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		for rank, turns := range [][]int{{0, 1, 2, 3}, {0, 3}, {2}, {}} {
			n := join(t, dir, rank, 4)
			all.Go(func() {
				for _, turn := range turns {
					if err := n.Wait(t.Context(), Turn{turn}); err != nil {
						t.Error(err)
					}
				}
				if _, err := n.Leave(t.Context(), ""); err != nil || len(n.Lost) > 0 {
					t.Errorf("rank %d: %v, lost %v", rank, err, n.Lost)
				}
			})
		}
		all.Wait()
	})
}

// Two runs in one folder do not mix; those whose starter tells them apart share it.
func TestTwoRuns(t *testing.T) {
	dir := t.TempDir()
	place := Place{Rank: 0, Size: 1}
	quiet := func(string) {}
	n, err := Join(dir, place, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Leave(t.Context(), "")
	if _, err := Join(dir, place, quiet); err == nil || !strings.Contains(err.Error(), "rank 0 of a run") {
		t.Errorf("a second run: %v", err)
	}
	place.Run = "../7.0"
	other, err := Join(dir, place, quiet)
	if err != nil || !strings.HasPrefix(other.Dir, dir+string(os.PathSeparator)) || other.Dir == n.Dir {
		t.Fatalf("a run with a name: %v, %+v", err, other)
	}
	other.Leave(t.Context(), "")
}

// Waiting ends with its context, and says why the folder cannot be written.
func TestWaitEnds(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		n := join(t, dir, 0, 2)
		ctx, cancel := context.WithTimeout(t.Context(), 1100*time.Millisecond) // between two signs of life
		defer cancel()
		if err := n.Wait(ctx, Turn{}); err != context.DeadlineExceeded {
			t.Errorf("waiting for a node that does not come: %v", err)
		}
		os.RemoveAll(n.Dir)
		if err := n.Wait(t.Context(), Turn{1}); !os.IsNotExist(err) {
			t.Errorf("without the folder: %v", err)
		}
		n.Leave(t.Context(), "")
	})
}
