//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/results"
)

// TestMain makes the test binary a worker that speaks the protocol, as DLBENCH_PEER says.
func TestMain(m *testing.M) {
	if how := os.Getenv("DLBENCH_PEER"); how != "" {
		fakeWorker(how)
	}
	os.Exit(m.Run())
}

// fakeWorker makes passes that take what they are asked to: "name cpu-seconds [what]".
func fakeWorker(how string) {
	var name, what string
	var seconds float64
	fmt.Sscan(how, &name, &seconds, &what)
	out := json.NewEncoder(os.Stdout)
	h := hello{Files: 4, Bytes: 100, Images: 8, Does: "nothing", Software: map[string]string{"fake": "1"}}
	switch what {
	case "skips":
		h.Skip = "not here"
	case "differs":
		h.Files = 3
	case "fails":
		h.Error = "no such module"
	}
	out.Encode(h)
	log, err := os.OpenFile(os.Getenv("DLBENCH_PEER_LOG"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		panic(err)
	}
	n := 0
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); n++ {
		fmt.Fprintln(log, name)
		if what == "dies" && n == 2 {
			fmt.Fprintln(os.Stderr, "Traceback\nMemoryError: no more")
			os.Exit(3)
		}
		if what == "hangs" && n == 1 {
			select {}
		}
		out.Encode(pass{Images: 8, Wall: seconds, CPU: seconds})
	}
	os.Exit(0)
}

// fakes are peers that take so many seconds a pass, and the log that they write.
func fakes(t *testing.T, hows ...string) (peers []peer, log func() []string) {
	t.Helper()
	path := t.TempDir() + "/log"
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range hows {
		name, _, _ := strings.Cut(how, " ")
		peers = append(peers, peer{name: name, cores: 1, command: []string{self}, env: []string{"DLBENCH_PEER=" + how,
			"DLBENCH_PEER_LOG=" + path}})
	}
	return peers, func() []string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(text))
	}
}

func quietly(string, ...any) {}

func fakePlan(rounds int) plan {
	return plan{cpus: []int{0}, rounds: rounds, files: 4, bytes: 100, timeout: time.Minute}
}

// Passes are interleaved and each round begins with another peer; the first pass does
// not count; ratios are of the same round.
func TestMeasure(t *testing.T) {
	peers, log := fakes(t, "dlbench-turbo 0.1", "torchvision-pil 0.25", "opencv-linear 0.2 skips")
	m, err := measure(t.Context(), peers, fakePlan(6), quietly)
	if err != nil || m.rounds != 6 {
		t.Fatalf("%d rounds, %v", m.rounds, err)
	}
	want := []string{"dlbench-turbo", "torchvision-pil"} // warm-up
	for round := range 6 {
		for _, i := range order(2, round) {
			want = append(want, peers[i].name)
		}
	}
	if got := log(); !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	r := &report{}
	r.add(m)
	if len(r.Results) != 3 || r.Results[2].Status != results.Skipped || r.Results[2].Reason != "not here" {
		t.Fatalf("%+v", r.Results)
	}
	if x := r.Results[0].Metric(throughput); x == nil || x.Median != 80 || len(x.Samples) != 6 {
		t.Errorf("throughput %+v", x)
	}
	if x := r.Results[1].Metric(cpuRatio); x == nil || x.Median != 2.5 {
		t.Errorf("ratio %+v", x)
	}
	if r.Results[0].Metric(cpuRatio) != nil {
		t.Error("the baseline has a ratio to itself")
	}
}

// What goes wrong is said in one line, with the rounds that were finished before.
func TestMeasureFails(t *testing.T) {
	for _, c := range []struct {
		how     string
		timeout time.Duration
		rounds  int
		says    string
	}{
		{"opencv-linear 0.2 dies", time.Minute, 1, "MemoryError: no more"},
		{"opencv-linear 0.2 differs", time.Minute, 0, "finds 3 files"},
		{"opencv-linear 0.2 fails", time.Minute, 0, "no such module"},
		{"opencv-linear 0 ", time.Minute, 0, "a pass that took 0 s"},
		{"opencv-linear 0.2 hangs", 300 * time.Millisecond, 0, "no answer in 300ms"},
	} {
		peers, _ := fakes(t, "dlbench-turbo 0.1", c.how)
		p := fakePlan(5)
		p.timeout = c.timeout
		m, err := measure(t.Context(), peers, p, quietly)
		if err == nil || m.rounds != c.rounds || !strings.Contains(err.Error(), c.says) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %d rounds, %v", c.how, m.rounds, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	peers, _ := fakes(t, "dlbench-turbo 0.1")
	if _, err := measure(ctx, peers, fakePlan(1), quietly); err == nil {
		t.Error("measured although it was told to end")
	}
}

func TestParse(t *testing.T) {
	for _, args := range []string{"", "-data x", "-data x -o y -peers magic", "-data x -o y -cores 0",
		"-data x -o y -rounds 0", "-data x -o y more"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	o, err := parse(strings.Fields("-data x -o y -cores 1,2 -peers dlbench-go,opencv-lut"))
	if err != nil || !slices.Equal(o.cores, []int{1, 2}) ||
		!slices.Equal(o.peers, []string{"dlbench-go", "opencv-lut"}) {
		t.Errorf("%+v, %v", o, err)
	}
}

// Only workers in Python are told what their libraries and glibc are to do.
func TestCommands(t *testing.T) {
	peers, err := commands(options{data: "d", images: 8, python: "python3", script: "s.py",
		peers: []string{"dlbench-turbo", "opencv-lut"}, cores: []int{1, 2}})
	if err != nil || len(peers) != 4 {
		t.Fatalf("%v, %v", peers, err)
	}
	for i, cores := range []int{1, 1, 2, 2} {
		p := peers[i]
		if p.cores != cores || !strings.Contains(strings.Join(p.command, " "),
			fmt.Sprintf("--cores %d --data d --images 8", cores)) {
			t.Errorf("%v: %q", p, p.command)
		}
		python := p.name == "opencv-lut"
		if got := slices.Contains(p.env, "MALLOC_TRIM_THRESHOLD_=134217728"); got != python ||
			python != (p.command[0] == "python3") {
			t.Errorf("%v: %q with %q", p, p.command, p.env)
		}
	}
}
