package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dlbench/loader/synth"
	"dlbench/results"
	"dlbench/results/chart"
	"dlbench/results/page"
)

// output is where a run's report goes.
type output struct {
	dir    string // as given; "" for a new one
	path   string // of the report, once it has been saved
	moved  string // where an earlier report was moved
	latest bool   // dlbench-out/latest leads to it
	unlock func() error
}

// save makes the directory, the first time, and saves.
func (o *output) save(rep *results.Report) error {
	if o.path == "" {
		if err := o.prepare(rep.Started); err != nil {
			return err
		}
	}
	return results.Save(o.path, rep)
}

// prepare makes the directory, which is this run's alone until it ends. One that was given may
// hold an earlier report, which is moved out of the way.
func (o *output) prepare(started time.Time) (err error) {
	if o.dir == "" {
		o.dir, err = newDir(filepath.Join("dlbench-out", started.UTC().Format("20060102T150405Z")))
		if err != nil {
			return err
		}
	}
	o.unlock, err = synth.Lock(o.dir)
	if errors.Is(err, synth.ErrLocked) {
		return fmt.Errorf("-o %s: another run writes there: wait for its end, or name another folder", o.dir)
	}
	if err != nil {
		return err
	}
	if filepath.Dir(o.dir) == filepath.Dir(latest) {
		o.latest = pointTo(o.dir)
	}
	path := filepath.Join(o.dir, "report.json")
	if old, err := os.Stat(path); err == nil && old.Mode().IsRegular() {
		o.moved = filepath.Join(o.dir, "report-"+old.ModTime().UTC().Format("20060102T150405.000Z")+".json")
		if err := os.Rename(path, o.moved); err != nil {
			return err
		}
	}
	o.path = path
	return nil
}

// release lets other runs have the directory.
func (o *output) release() {
	if o.unlock != nil {
		o.unlock()
	}
}

// latest leads to the directory of the last run that was given none.
var latest = filepath.Join("dlbench-out", "latest")

// pointTo has latest lead to dir. Where links cannot be made there is none.
func pointTo(dir string) bool {
	link := latest + ".new"
	if err := os.Symlink(filepath.Base(dir), link); err != nil {
		return false
	}
	err := os.Rename(link, latest)
	if err != nil {
		os.Remove(link)
	}
	return err == nil
}

// newDir makes a directory of that name, with a number behind it where there is one.
func newDir(name string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", err
	}
	dir := name
	for n := 2; ; n++ {
		if err := os.Mkdir(dir, 0o755); !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
		dir = fmt.Sprintf("%s-%d", name, n)
	}
}

// draw writes the page, and the charts that answer the question, next to the report.
func (o *output) draw(ctx context.Context, rep *results.Report) error {
	reps := []*results.Report{rep}
	err := results.SaveAs(filepath.Join(o.dir, "report.html"), func(w io.Writer) error {
		_, err := page.Write(ctx, w, reps)
		return err
	})
	other := func(c chart.Chart) bool { return !slices.Contains(answerCharts, c.Name) }
	charts := slices.DeleteFunc(chart.Charts(reps), other)
	_, drawn := saveCharts(ctx, charts, o.dir, "png")
	return cmp.Or(err, drawn)
}

// answerCharts are those that a run draws; plot draws all.
var answerCharts = []string{"pipeline-time", "verdict-whatifs", "preprocess-scaling"}

// print says where what is.
func (o *output) print(w io.Writer) {
	dir, show := latest, "dlbench show --full"
	if !o.latest {
		dir, show = o.dir, show+" "+o.dir
	}
	fmt.Fprintf(w, "\nreport  %-44s all tables  %s\n", filepath.Join(dir, "report.html"), show)
	if o.moved != "" {
		fmt.Fprintf(w, "an earlier report there is now %s\n", o.moved)
	}
}
