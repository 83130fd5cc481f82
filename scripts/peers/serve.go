package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"dlbench/loader"
)

// serve is dlbench's own worker: it makes a pass for each line of in.
func serve(in io.Reader, out io.Writer, o options) error {
	reply := json.NewEncoder(out)
	if len(o.cores) != 1 {
		return fmt.Errorf("-cores %v: a worker wants one number", o.cores)
	}
	// A read that blocks keeps its processor for a while.
	runtime.GOMAXPROCS(o.cores[0] + 1)
	set, err := loader.Open(o.data, loader.OpenOptions{Store: loader.Files})
	if err != nil {
		return reply.Encode(hello{Error: err.Error()})
	}
	h := hello{Files: len(set.Files), Bytes: set.Bytes, Software: map[string]string{"Go": runtime.Version()}}
	epochs := (o.images + len(set.Samples) - 1) / len(set.Samples)
	h.Images = epochs * len(set.Samples)
	l, err := newOurs(set, o.decoder, o.cores[0], epochs)
	if skip, ok := errors.AsType[*skipError](err); ok {
		h.Skip = skip.Error()
		return reply.Encode(h)
	}
	if err != nil {
		return reply.Encode(hello{Error: err.Error()})
	}
	defer l.close()
	h.Does = l.does
	for name, version := range l.software {
		h.Software[name] = version
	}
	if err := reply.Encode(h); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		p, err := timed(l.pass)
		if err != nil {
			p.Error = err.Error()
		}
		if err := reply.Encode(p); err != nil {
			return err
		}
	}
	return lines.Err()
}

// timed times one call of f, which says how many images it made.
func timed(f func() (images int, err error)) (p pass, err error) {
	before, err := cpuTime()
	if err != nil {
		return p, err
	}
	began := time.Now()
	p.Images, err = f()
	p.Wall = time.Since(began).Seconds()
	after, cerr := cpuTime()
	p.CPU = (after - before).Seconds()
	return p, errors.Join(err, cerr)
}

// skipError is why a worker cannot take part, on this machine.
type skipError struct{ err error }

func (e *skipError) Error() string { return e.err.Error() }
func (e *skipError) Unwrap() error { return e.err }
