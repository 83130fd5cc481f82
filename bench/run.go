package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"dlbench/bench/host"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// Options is a whole run: which suites, on what, how long, and where to report.
type Options struct {
	Suites   []string // none: all
	Devices  []cuda.Spec
	Data     string   // folder of the data; "" for a set of our own
	Disk     DiskSpec // to emulate
	Batch    theory.Batch
	Quick    bool
	Count    int           // samples a case, exactly; 0: until the interval is narrow
	MinTime  time.Duration // least length of a sample; 0: 5 ms
	Timeout  time.Duration // for a case; 0: the default, within the suite's share of the run
	Repeat   int
	Axes     map[string][]string
	Seed     uint64
	Label    string
	Tool     results.Tool
	Root     string                      // of /sys and /proc; "" for "/"
	Progress func(Progress)              // may be nil
	Save     func(*results.Report) error // called as cases finish; may be nil
	Notice   func(string)                // one line to tell before measuring; may be nil
}

// Defaults of a run. The suite's share divides by its cases; what is left over by
// quick ones is not passed on.
const (
	defaultMinTime = 5 * time.Millisecond
	defaultTimeout = 60 * time.Second
	suiteShare     = 12 * time.Second
	quickShare     = 3 * time.Second
	leastShare     = 150 * time.Millisecond
	mostShare      = 2 * time.Second
	minSamples     = 10
	target         = 0.01
	quickTarget    = 0.03
	saveEvery      = 500 * time.Millisecond
)

// Run measures and returns the report. When ctx ends first it returns the report
// of what was done, marked interrupted, and ctx's error.
func Run(ctx context.Context, o Options) (*results.Report, error) {
	suites, err := Select(o.Suites)
	if err != nil {
		return nil, err
	}
	if err := CheckAxes(suites, o.Axes); err != nil {
		return nil, err
	}
	env, err := open(o, slices.ContainsFunc(suites, func(s Suite) bool { return s.Devices }))
	if err != nil {
		return nil, err
	}
	lost := map[string]error{}
	defer closeDevices(env.Devices, lost)
	if slices.ContainsFunc(suites, func(s Suite) bool { return s.Data }) {
		if env.Data, err = openData(ctx, o, env.Root); err != nil {
			return nil, err
		}
		env.Host.Disks = []results.Disk{env.Data.Disk}
	}
	rep := newReport(o, env, suites)
	cases := make([][]Case, len(suites))
	if limit := o.config(env, Suite{}, 1, rep.Started).Rule; limit.MinTime >= limit.Timeout {
		return nil, &UsageError{"--min-time", limit.MinTime.String(), fmt.Sprintf("want less than the time for a case, --timeout %v", limit.Timeout)}
	}
	for i, s := range suites { // before anything is measured, so that nothing is lost to a bad flag
		if cases[i], err = s.Cases(env); err != nil {
			return nil, err
		}
	}
	save := saver(rep, o.Save)
	if err := save(true); err != nil { // before anything is measured, too
		return nil, err
	}
	if env.Missing != nil && o.Notice != nil {
		o.Notice(notice(suites, env.Missing))
	}
	order := map[string]int{}
	for i, s := range suites {
		for _, c := range cases[i] {
			order[c.Params.Name(s.Name)] = len(order)
		}
	}
	for i, s := range suites {
		cfg := o.config(env, s, len(cases[i]), rep.Started)
		cfg.Lost = lost
		if err = Measure(ctx, cfg, s.Name, cases[i], func(r results.Result) error {
			put(rep, r, order)
			return save(false)
		}); err != nil {
			break
		}
		if s.Derive != nil {
			rep.Findings = append(rep.Findings, s.Derive(env, rep.Results)...)
		}
	}
	rep.Finished = time.Now().UTC()
	rep.Status = results.Complete
	if ctx.Err() != nil {
		rep.Status = results.Interrupted
	}
	after(rep, o.Root)
	if err != nil && ctx.Err() == nil {
		return rep, err // saving has failed already
	}
	return rep, errors.Join(err, save(true))
}

// notice is the first line of a run without a GPU: what of these suites is assumed
// and what is measured all the same.
func notice(suites []Suite, missing error) string {
	assumed, measured := "links", "CPU and memory"
	for _, s := range suites {
		switch s.Name {
		case "pipeline":
			assumed = "links and step"
		case "disk":
			measured = "CPU, memory and disk"
		}
	}
	return fmt.Sprintf("no GPU here, %s are assumed; %s are measured (%v)", assumed, measured, missing)
}

// closeDevices closes the devices, but those that stand still: what they hold may be
// in use, and closing them could wait for ever.
func closeDevices(devices []cuda.Device, lost map[string]error) {
	h := newHand()
	defer h.close()
	for _, d := range devices {
		if errors.Is(lost[d.Info().Spec], errStuck) {
			continue
		}
		if err := h.do(context.Background(), closeLimit, 0, func(context.Context) error { return d.Close() }); errors.Is(err, errStuck) {
			return // the rest goes with the process
		}
	}
}

// open reads the machine and opens the devices, if they are wanted.
func open(o Options, devices bool) (Env, error) {
	root := o.Root
	if root == "" {
		root = "/"
	}
	if err := o.Batch.Check(); err != nil {
		return Env{}, &UsageError{Flag: "--batch, --shape", Value: o.Batch.String(), Want: err.Error()}
	}
	env := Env{Root: root, Disk: o.Disk, Batch: o.Batch, Quick: o.Quick, Axes: o.Axes, Seed: o.Seed, Host: host.Read(root)}
	if !devices {
		return env, nil
	}
	specs := o.Devices
	if len(specs) == 0 {
		specs = []cuda.Spec{{Text: "auto", Auto: true}}
	}
	var err error
	if env.Devices, env.Missing, err = cuda.Open(specs); err != nil {
		return Env{}, err
	}
	for _, d := range env.Devices { // a context knows how much memory is free; who has none fails as a case
		if unbind, err := d.Bind(); err == nil {
			unbind()
		}
	}
	join(&env.Host, env.Devices)
	return env, nil
}

// join tells the host's GPUs what CUDA calls them.
func join(h *results.Host, devices []cuda.Device) {
	for _, d := range devices {
		info := d.Info()
		if info.Assumed {
			continue
		}
		g := host.Find(h.GPUs, info.PCI)
		if g == nil { // a container without /sys shows no PCI device
			h.GPUs = append(h.GPUs, results.GPU{PCI: info.PCI, Link: results.Link{State: results.LinkUnknown}})
			g = &h.GPUs[len(h.GPUs)-1]
		}
		index := info.Index
		g.Index, g.Name, g.Memory = &index, info.Name, info.Memory
	}
}

// Machine describes this machine with its CUDA devices. missing says why there
// are none.
func Machine(root string) (h results.Host, missing error, err error) {
	h = host.Read(root)
	if dir, err := os.Getwd(); err == nil {
		h.Disks = host.Disks(root, dir)
	}
	devices, missing, err := cuda.Open([]cuda.Spec{{Text: "auto", Auto: true}})
	if err != nil {
		return h, nil, err
	}
	join(&h, devices)
	for _, d := range devices {
		d.Close()
	}
	return h, missing, nil
}

// config is how a suite of so many cases is measured.
func (o Options) config(env Env, s Suite, cases int, started time.Time) Config {
	r := Rule{Samples: minSamples, Target: target, Timeout: defaultTimeout, MinTime: defaultMinTime, MaxNoisy: 6}
	share := cmp.Or(s.Share, suiteShare)
	if o.Quick {
		r.Target, share = quickTarget, cmp.Or(s.Quick, quickShare)
	}
	r.Budget = min(max(share/time.Duration(max(1, cases)), leastShare), mostShare)
	if o.Count > 0 {
		r.Samples, r.Exact = o.Count, true
	}
	if o.MinTime > 0 {
		r.MinTime = o.MinTime
	}
	if o.Timeout > 0 {
		r.Timeout, r.Budget = o.Timeout, o.Timeout
	}
	return Config{Env: env, Rule: r, Repeat: o.Repeat, Started: started, Progress: o.Progress}
}

func newReport(o Options, env Env, suites []Suite) *results.Report {
	rep := &results.Report{
		SchemaVersion: results.SchemaVersion, Status: results.Interrupted, // until it is complete
		Tool: o.Tool, Started: time.Now().UTC(), Label: o.Label, Host: env.Host, Results: []results.Result{},
		Config: results.Config{Batch: o.Batch.Images, Shape: []int{o.Batch.Height, o.Batch.Width, o.Batch.Channels}, DType: o.Batch.DType,
			Quick: o.Quick, Count: o.Count, MinTime: o.MinTime.Seconds(), Timeout: o.Timeout.Seconds(), Repeat: o.Repeat, Axes: o.Axes, Seed: o.Seed},
	}
	if env.Data != nil {
		var skipped []string
		rep.Dataset, skipped = env.Data.describe()
		rep.Warnings = append(rep.Warnings, skipped...)
	}
	for _, s := range suites {
		rep.Config.Suites = append(rep.Config.Suites, s.Name)
	}
	for _, d := range env.Devices {
		info := d.Info()
		rep.Config.Devices = append(rep.Config.Devices, info.Spec)
		if rep.Software.Backend == "" || !info.Assumed {
			rep.Software.Backend, rep.Software.Driver = info.Backend, info.Driver
		}
	}
	if env.Missing != nil {
		rep.Warnings = append(rep.Warnings, notice(suites, env.Missing))
	}
	return rep
}

// put replaces the result of that name or inserts it where its case stands, not
// where it was finished.
func put(rep *results.Report, r results.Result, order map[string]int) {
	i, found := slices.BinarySearchFunc(rep.Results, r, func(a, b results.Result) int { return order[a.Name] - order[b.Name] })
	if found {
		rep.Results[i] = r
	} else {
		rep.Results = slices.Insert(rep.Results, i, r)
	}
}

// saver returns a function that saves rep, at most every saveEvery unless forced.
func saver(rep *results.Report, save func(*results.Report) error) func(force bool) error {
	var last time.Time
	return func(force bool) error {
		if save == nil || (!force && time.Since(last) < saveEvery) {
			return nil
		}
		if !force {
			rep.Finished = time.Now().UTC()
		}
		if err := save(rep); err != nil {
			return fmt.Errorf("save the report: %w", err)
		}
		last = time.Now()
		return nil
	}
}

// clockMoved is the change of the CPU's clock that is worth a word.
const clockMoved = 0.05

// after compares the machine with what it was before: a moved clock or a quota
// that stopped the process is in the numbers.
func after(rep *results.Report, root string) {
	if root == "" {
		root = "/"
	}
	if usable := host.UsableCPUs(); len(usable) > 0 && rep.Host.CPU.Hz > 0 {
		if hz, _ := host.Clock(root, usable[0]); hz > 0 && math.Abs(hz/rep.Host.CPU.Hz-1) > clockMoved {
			rep.Warnings = append(rep.Warnings, fmt.Sprintf("the CPU's clock went from %.2f to %.2f GHz during the run", rep.Host.CPU.Hz/1e9, hz/1e9))
		}
	}
	if n := host.Throttled(root) - rep.Host.CPU.NrThrottled; n > 0 {
		rep.Warnings = append(rep.Warnings, fmt.Sprintf("the CPU quota stopped this process in %d periods while it measured", n))
	}
}
