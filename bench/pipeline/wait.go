package pipeline

import (
	"cmp"
	"fmt"
	"time"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/results"
)

// longestWait is the longest step that is waited for only to see what waiting takes, and
// pollLimit how many times as long polling goes on: a stand-in on a clock that is moved by
// waits alone would never end.
const (
	longestWait = 20 * time.Millisecond
	pollLimit   = 5
)

// recordWaits records how much of a CPU a thread uses that waits for a step, as a training
// script's does: asking again and again whether it is over, and blocked by the driver.
func (r *pipelineRunner) recordWaits(rec *bench.Recorder) error {
	d, step := r.device, min(r.step, longestWait)
	event, err := d.NewBlockingEvent()
	if err != nil {
		return err
	}
	polling, err1 := r.sink.waitFor(step, event, func() error {
		for limit := time.Now().Add(pollLimit * step); time.Now().Before(limit); {
			if over, err := d.Reached(event); over || err != nil {
				return err
			}
		}
		return d.SyncEvent(event)
	})
	blocking, err2 := r.sink.waitFor(step, event, func() error { return d.SyncEvent(event) })
	rec.SetKnown(metricPolling, polling)
	rec.SetKnown(metricBlocking, blocking)
	return cmp.Or(err1, err2, d.CloseEvent(event))
}

// waitFor is the CPU time of the calling thread, over the time, while it waits for a step at
// whose end event is.
func (s *deviceSink) waitFor(step time.Duration, event cuda.Event, wait func() error) (share float64, err error) {
	err = cmp.Or(s.device.Step(step, s.compute), s.device.Record(event, s.compute))
	cpu, began := bench.ThreadCPU(), time.Now()
	err = cmp.Or(err, wait())
	return float64(bench.ThreadCPU()-cpu) / float64(time.Since(began)), err
}

// Metrics of a thread that waits for a step.
const (
	metricPolling  = "cpu_polling"
	metricBlocking = "cpu_blocking"
)

// Shares of a CPU from which on, and up to which, a waiting thread spins and sleeps.
const (
	leastSpinning = 0.9
	mostSleeping  = 0.1
)

// spinning is claim A16: a CPU at 100 % waits, where the wait is by polling; and what that costs
// the loader.
func (p finished) spinning() results.Finding {
	for _, r := range p.Where(func(params) bool { return true }) {
		polling, blocking := r.Metric(metricPolling), r.Metric(metricBlocking)
		if polling == nil || blocking == nil {
			continue
		}
		x, y := results.IntervalOf(polling), results.IntervalOf(blocking)
		verdict := x.Verdict(leastSpinning, 2)
		if verdict != y.Verdict(0, mostSleeping) {
			verdict = results.Inconclusive
		}
		share := func(x float64) string { return results.FormatValue(x, results.Ratio) }
		f := x.Finding(verdict, results.Ratio, fmt.Sprintf("a thread that waits for a step uses %s of a CPU where it asks "+
			"again and again, and %s where it sleeps; %s", share(x.Value), share(y.Value), p.spinCost()))
		f.Assumed = r.Assumed
		return f
	}
	return results.Finding{}
}

// spinCost is what the loader feeds beside a thread that spins, and without it.
func (p finished) spinCost() string {
	const unknown = "what that costs the loader was not measured"
	base := p.Fastest()
	if base == nil {
		return unknown
	}
	spins := func(r *results.Result) bool { return paramsOf(r).StepCPU > 0 }
	fed := map[bool]*results.Result{spins(base): base}
	for _, r := range p.Where(func(q params) bool {
		same := paramsOf(base)
		same.StepCPU, same.Workers = q.StepCPU, q.Workers
		return q == same
	}) {
		fed[spins(r)] = cmp.Or(fed[spins(r)], r) // the first other
	}
	if fed[true] == nil || fed[false] == nil {
		return unknown
	}
	with := func(r *results.Result) string {
		return fmt.Sprintf("%.0f images/s with %s", r.Metric("throughput").Median,
			results.Plural(paramsOf(r).Workers, "worker"))
	}
	x := results.RatioOf(fed[true].Metric("throughput"), fed[false].Metric("throughput"))
	return fmt.Sprintf("beside a thread that spins the loader feeds %s, without it %s: %.2f times as much "+
		"(%.2f to %.2f)", with(fed[true]), with(fed[false]), x.Value, x.Lo, x.Hi)
}
