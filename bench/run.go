package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

// Options is a whole run: which suites, on what, how long, and where to report.
type Options struct {
	Suites   []Suite
	Devices  []theory.Device
	Data     string          // folder of the data; "" for a set of our own
	MaxBytes int64           // that are read of Data over a network; 0: any number
	Disk     theory.DiskSpec // to emulate
	Step     Step
	Soak     time.Duration // that a GPU works without a pause; 0: not
	Batch    theory.Batch
	Quick    bool
	Count    int           // samples a case, exactly; 0: until the interval is narrow
	MinTime  time.Duration // least length of a sample; 0: 5 ms
	Timeout  time.Duration // for a case; 0: the default, within the suite's share of the run
	Repeat   int
	Axes     map[string][]string
	Seed     uint64
	Strict   bool          // a bad file is an error
	Need     float64       // images/s that the user's GPU takes; 0 where it is not known
	Loaders  []Loader      // of the user's own
	Python   string        // that runs them; "" for the usual one
	Logs     func() string // the folder for what they print; nil for that of temporary files
	Label    string
	Tool     results.Tool
	// Wait is called before the samples of a round of a case, with its suite, group, run, round
	// and case: it lets several machines measure the same at the same time. May be nil.
	Wait     func(context.Context, [5]int) error
	Root     string                                  // of /sys and /proc; "" is "/"
	Progress func(Progress)                          // may be nil
	Finished func(suite string, rs []results.Result) // called as suites finish; may be nil
	Conclude func(*results.Report)                   // adds what follows, unless interrupted; may be nil
	Save     func(*results.Report) error             // called as cases finish; may be nil
	Notice   func(string)                            // one line to print before measuring; may be nil
}

// Defaults of a run. The suite's share divides by its cases; what is left over by
// quick ones is not passed on.
const (
	DefaultMinTime = 5 * time.Millisecond
	defaultTimeout = 60 * time.Second
	suiteShare     = 12 * time.Second
	quickShare     = 3 * time.Second
	leastShare     = 150 * time.Millisecond
	mostShare      = 2 * time.Second
	minSamples     = 10
	target         = 0.01
	quickTarget    = 0.03
	mostVisits     = 8 // of a suite with a number of samples of its own
	saveEvery      = 500 * time.Millisecond
)

// Run measures and returns the report. When ctx ends first it returns the report
// of what was done, marked interrupted, and ctx's error.
func Run(ctx context.Context, o Options) (*results.Report, error) {
	if err := CheckAxes(o.Suites, o.Axes); err != nil {
		return nil, err
	}
	env, err := OpenEnv(ctx, o)
	lost := map[use]error{}
	defer closeDevices(env.Devices, lost)
	if err != nil {
		return nil, err
	}
	rep := newReport(env)
	cases := make([][]Case, len(o.Suites))
	if limit := env.rule(Suite{}, 1); limit.MinTime >= limit.Timeout {
		return nil, &UsageError{"--min-time", limit.MinTime.String(),
			fmt.Sprintf("want less than the time for a case, --timeout %v", limit.Timeout)}
	}
	order := map[string]int{}    // of cases, by name
	for i, s := range o.Suites { // before anything is measured, so that nothing is lost to a bad flag
		if cases[i], err = s.Cases(env); err != nil {
			return nil, err
		}
		for _, c := range cases[i] {
			order[c.Params.Name(s.Name)] = len(order)
		}
	}
	save := saver(rep, env)
	if err := save(true); err != nil { // before anything is measured, too
		return nil, err
	}
	if env.Missing != nil && o.Notice != nil {
		o.Notice(env.notice())
	}
	plan := env.plan(cases)
	for i, s := range o.Suites {
		cfg := Config{Env: env, Rule: env.rule(s, len(cases[i])), Turn: i, Visit: cmp.Or(s.Visit, s.Samples),
			Started: rep.Started, Progress: plan.progress(i, rep.Started, o.Progress), Lost: lost}
		if err = Measure(ctx, cfg, s.Name, cases[i], func(r results.Result) error {
			put(rep, r, order)
			return save(false)
		}); err != nil {
			break
		}
		if o.Finished != nil && len(cases[i]) > 0 {
			other := func(r results.Result) bool { return r.Suite != s.Name }
			o.Finished(s.Name, slices.DeleteFunc(slices.Clone(rep.Results), other))
		}
		rep.Findings = append(rep.Findings, s.Findings(env, rep.Results)...)
	}
	if ctx.Err() == nil {
		if o.Conclude != nil {
			o.Conclude(rep)
		}
		rep.Status = results.Complete
	}
	rep.Finished = time.Now().UTC()
	after(rep, env.Root)
	if err != nil && ctx.Err() == nil {
		return rep, err // saving has failed already
	}
	return rep, errors.Join(err, save(true))
}

// share is the suite's time.
func (o Options) share(s Suite) time.Duration {
	if o.Quick {
		return cmp.Or(s.Quick, quickShare)
	}
	return cmp.Or(s.Share, suiteShare)
}

// plan is how long each suite of a run takes, as far as is known before; 0 without cases.
type plan []time.Duration

func (e Env) plan(cases [][]Case) (p plan) {
	for i, s := range e.Suites {
		p = append(p, e.share(s)*time.Duration(max(1, e.Repeat)*min(1, len(cases[i]))))
	}
	return p
}

// progress passes on what a suite says of itself, with how far the run is.
func (p plan) progress(suite int, began time.Time, next func(Progress)) func(Progress) {
	if next == nil {
		return nil
	}
	var before, all time.Duration
	for i, t := range p {
		if all += t; i < suite {
			before += t
		}
	}
	return func(x Progress) {
		x.Number, x.All, x.Expected = suite+1, len(p), all
		x.Whole = (before.Seconds() + x.Share*p[suite].Seconds()) / all.Seconds()
		if spent := time.Since(began); x.Whole > 0.05 { // by now it is known how long things take here
			x.Expected = time.Duration(float64(spent) / x.Whole)
		}
		next(x)
	}
}

// notice is the first line of a run without a GPU.
func (e Env) notice() string {
	what := "links"
	if slices.ContainsFunc(e.Suites, func(s Suite) bool { return s.Name == "pipeline" }) {
		what += " and steps"
	}
	return fmt.Sprintf("no GPU here: %s are simulated (%v)", what, e.Missing)
}

// rule is how long a case of a suite with so many cases is measured.
func (e Env) rule(s Suite, cases int) Rule {
	r := Rule{Samples: minSamples, Target: target, Timeout: cmp.Or(e.Timeout, defaultTimeout),
		MinTime: cmp.Or(e.MinTime, DefaultMinTime), MaxNoisy: 6, MaxCheck: 25}
	if e.Quick {
		r.Target = quickTarget
	}
	r.Budget = cmp.Or(e.Timeout, min(max(e.share(s)/time.Duration(max(1, cases)), leastShare), mostShare))
	if s.Samples > 0 {
		r.Samples, r.Most = s.Samples, mostVisits*s.Samples
	}
	if e.Count > 0 {
		r.Samples, r.Exact = e.Count, true
	}
	return r
}

// dataProgress reports how far such work on the data is; nil where nobody asks.
func (o Options) dataProgress(work string) func(done, total int) {
	if o.Progress == nil {
		return nil
	}
	return func(done, total int) {
		o.Progress(Progress{Suite: "data set", Case: work, Share: float64(done) / float64(max(1, total))})
	}
}

// Step is what a training step asks for.
type Step struct {
	Time  time.Duration // that the GPU works on a batch
	CPU   int           // threads that the step keeps busy meanwhile
	Given bool          // Time was named by the user; otherwise it is the article's
}

// DefaultStep is the article's: ResNet-152 forward and backward of 32 images (claim
// A2), by a script whose launching thread keeps one core busy.
var DefaultStep = Step{Time: time.Duration(theory.Demands[0].Step * 1e9), CPU: 1}

// MostStep bounds a step.
const MostStep = time.Hour

// Check says what is wrong with a step.
func (s Step) Check() error {
	if s.Time < 0 || s.Time > MostStep {
		return &UsageError{"--step", s.Time.String(), fmt.Sprintf("want a time from 0 to %v", MostStep)}
	}
	if s.CPU < 0 || s.CPU > results.MostThreads {
		return &UsageError{"--step-cpu", fmt.Sprint(s.CPU),
			fmt.Sprintf("want from 0 to %d threads", results.MostThreads)}
	}
	return nil
}
