// Package cluster lets processes on several nodes measure in step, so that all of them load
// their common store at the same time. They see one folder, and nothing else of each other:
// each keeps a file there that says how far it is, and writes it anew every second or two for
// as long as it lives. What it waits for is that all the others are as far as it is. One that
// dies, or never comes, is waited for no more than a while.
package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Turn is a place in the order in which all nodes measure: suite, group, run, round and case.
type Turn = [5]int

// How long others are waited for.
const (
	comeWithin  = 5 * time.Minute  // by one that has not come yet: pods of a Job take a while to start
	beatEvery   = 2 * time.Second  // signs of life
	quietWithin = 20 * time.Second // without a sign of life, until a node is lost
)

// Node is this process among the others.
type Node struct {
	Place
	Dir   string          // of this run, for reports, too
	Lost  map[int]string  // the nodes that are waited for no more, and why
	Skews []time.Duration // by how much the nodes went on apart, a turn each, by their clocks

	notice  func(string)
	stop    func()
	beating sync.WaitGroup
	began   time.Time

	mu   sync.Mutex
	self state

	others map[int]*other
}

// state is what a node's file says.
type state struct {
	Turn   Turn   `json:"turn"`
	Met    int    `json:"met"`    // 1 once all have been seen at the turn
	Passed int64  `json:"passed"` // when it went on from the turn before: nanoseconds of Unix time
	Beats  int    `json:"beats"`
	Left   bool   `json:"left"`
	Why    string `json:"why,omitempty"` // it left early
}

// other is another node as seen from here.
type other struct {
	state
	seen    bool
	changed time.Time
}

// Join takes this process's place in dir, which all nodes see. notice may be told whom it
// waits for, and who is lost.
func Join(dir string, p Place, notice func(string)) (*Node, error) {
	n := &Node{Place: p, Dir: filepath.Join(dir, runFolder(p.Run)), notice: notice, began: time.Now(),
		others: map[int]*other{}, Lost: map[int]string{}}
	if err := os.MkdirAll(n.Dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(n.file(p.Rank), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("rank %d of a run is in %s already: name a new folder", p.Rank, n.Dir)
	} else if err != nil {
		return nil, err
	}
	f.Close()
	for rank := range p.Size {
		if rank != p.Rank {
			n.others[rank] = &other{changed: n.began}
		}
	}
	if err := n.write(func(*state) {}); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	n.stop = stop
	n.beating.Go(func() { n.beat(ctx) })
	return n, nil
}

var noNamePart = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// runFolder is the folder's name for a run: letters, digits, dots and dashes.
func runFolder(run string) string {
	return strings.TrimSuffix("run-"+noNamePart.ReplaceAllString(run, "-"), "-")
}

func (n *Node) file(rank int) string { return filepath.Join(n.Dir, fmt.Sprintf(".rank-%d", rank)) }

// NodeDir is the folder of a rank's report.
func (n *Node) NodeDir(rank int) string { return filepath.Join(n.Dir, fmt.Sprintf("node-%d", rank)) }

// write changes this node's state, and its file by a rename.
func (n *Node) write(change func(*state)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(&n.self)
	n.self.Beats++
	text, err := json.Marshal(n.self)
	if err != nil {
		return err
	}
	name := n.file(n.Rank)
	if err := os.WriteFile(name+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

func (n *Node) beat(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			n.write(func(*state) {}) // what is wrong with the folder, Wait says
		}
	}
}

// Polling becomes slow while one waits for others to arrive, since it loads the store that is
// being measured; then it is quick, so that all go on together.
const (
	quickPoll = time.Millisecond
	slowPoll  = 50 * time.Millisecond
)

// Wait returns when all nodes that live have come to turn.
func (n *Node) Wait(ctx context.Context, turn Turn) error {
	if err := n.arrive(ctx, turn, 0, slowPoll); err != nil {
		return err
	}
	n.measureSkew(turn)
	if err := n.arrive(ctx, turn, 1, quickPoll); err != nil {
		return err
	}
	n.mu.Lock()
	n.self.Passed = time.Now().UnixNano() // goes into the file on the next arrival
	n.mu.Unlock()
	return nil
}

func (n *Node) arrive(ctx context.Context, turn Turn, met int, slowest time.Duration) error {
	if err := n.write(func(s *state) { s.Turn, s.Met = turn, met }); err != nil {
		return err
	}
	return n.until(ctx, slowest, func(_ int, o *other) bool {
		return cmp.Or(slices.Compare(o.Turn[:], turn[:]), o.Met-met) >= 0
	})
}

// until waits for done to be true of all other nodes that live, or have left.
func (n *Node) until(ctx context.Context, slowest time.Duration, done func(rank int, o *other) bool) error {
	said, poll := false, quickPoll
	for began := time.Now(); ; poll = min(2*poll, slowest) {
		waiting := n.look(done)
		if len(waiting) == 0 {
			return nil
		}
		if !said && time.Since(began) > 2*beatEvery {
			said = true
			n.notice(fmt.Sprintf("waiting for rank %s of %d", strings.Join(waiting, ", "), n.Size))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(poll):
		}
	}
}

// look reads the files of the nodes of which done is not true, and returns those for which
// it still is not.
func (n *Node) look(done func(int, *other) bool) (waiting []string) {
	for rank := range n.Size {
		o := n.others[rank]
		if o == nil || n.Lost[rank] != "" || done(rank, o) || o.Left {
			continue
		}
		n.read(rank, o)
		switch {
		case o.Left && o.Why != "":
			n.lose(rank, o.Why)
		case done(rank, o) || o.Left:
		case !o.seen && time.Since(n.began) > comeWithin:
			n.lose(rank, fmt.Sprintf("did not come within %v", comeWithin))
		case o.seen && time.Since(o.changed) > quietWithin:
			n.lose(rank, fmt.Sprintf("gave no sign of life for %v", quietWithin))
		default:
			waiting = append(waiting, fmt.Sprint(rank))
		}
	}
	return waiting
}

// read takes in what a node's file says, if it is there and whole.
func (n *Node) read(rank int, o *other) {
	text, err := os.ReadFile(n.file(rank))
	var s state
	if err != nil || json.Unmarshal(text, &s) != nil {
		return
	}
	if !o.seen || s.Beats != o.Beats {
		o.seen, o.changed = true, time.Now()
	}
	o.state = s
}

func (n *Node) lose(rank int, why string) {
	n.Lost[rank] = why
	n.notice(fmt.Sprintf("rank %d of %d %s: the others go on without it", rank, n.Size, why))
}

// measureSkew adds by how much the nodes, now at turn, went on apart from the turn before.
func (n *Node) measureSkew(turn Turn) {
	n.mu.Lock()
	first, last := n.self.Passed, n.self.Passed
	n.mu.Unlock()
	for rank, o := range n.others {
		if n.Lost[rank] == "" && o.Turn == turn {
			first, last = min(first, o.Passed), max(last, o.Passed)
		}
	}
	if first > 0 {
		n.Skews = append(n.Skews, time.Duration(last-first))
	}
}

// Leave ends this node's part: why is "" where it has done all of it. It says whether this
// node is the one that joins the reports: the first that did its part. That one returns once
// all have left.
func (n *Node) Leave(ctx context.Context, why string) (first bool, err error) {
	defer n.beating.Wait()
	defer n.stop()
	if err := n.write(func(s *state) { s.Left, s.Why = true, why }); err != nil || why != "" {
		return false, err
	}
	if err := n.until(ctx, slowPoll, func(rank int, _ *other) bool { return rank > n.Rank }); err != nil {
		return false, err
	}
	for rank := range n.Rank {
		if n.Lost[rank] == "" {
			return false, nil
		}
	}
	return true, n.until(ctx, slowPoll, func(int, *other) bool { return false })
}
