package results

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

var errNotReport = errors.New("not a dlbench report")

// Write writes r as indented JSON that ends with a newline. What is not finite
// is left out and named in the warnings of its result; r itself is not changed.
func Write(w io.Writer, r *Report) error { return write(w, r, "\t") }

// WriteCompact writes r as Write does, without spaces and line breaks.
func WriteCompact(w io.Writer, r *Report) error { return write(w, r, "") }

func write(w io.Writer, r *Report, indent string) error {
	c := *r // lists that every report has are never null
	c.SchemaVersion = SchemaVersion
	c.Config.Suites, c.Config.Shape = append([]string{}, r.Config.Suites...), append([]int{}, r.Config.Shape...)
	c.Results = append([]Result{}, r.Results...)
	err := EncodeJSON(w, &c, indent)
	if _, ok := errors.AsType[*json.UnsupportedValueError](err); ok {
		c.leaveOut(notFinite)
		return EncodeJSON(w, &c, indent)
	}
	return err
}

// EncodeJSON writes v and a newline, a member a line where indent is not "".
func EncodeJSON(w io.Writer, v any, indent string) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	return e.Encode(v)
}

// Limits of a report, so that no small document makes Read take gigabytes: "{}," is
// three bytes, and once decoded a Sample takes 56, a case, metric or disk 200 to 300. A
// run of a few hundred cases has some thousand metrics and some ten thousand samples.
const (
	maxReportSize = 256 << 20 // B
	// MaxEntries bounds samples and all other objects of a report.
	MaxEntries = 1_000_000
	// MaxValues bounds numbers, texts and everything else in lists and objects.
	MaxValues = 8 * MaxEntries
	// maxNames bounds the different names of parameters, metrics and references: each
	// is a column of a table that has a row for each case. A report of all suites has some sixty.
	maxNames = 300
)

// limited reads a report up to the limits. It takes signs in texts for what they are elsewhere.
type limited struct {
	io.Reader
	size, entries, values int // so far
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	count := func(sign string) int { return bytes.Count(p[:n], []byte(sign)) }
	l.size, l.entries = l.size+n, l.entries+count("{")
	l.values += count("{") + count("[") + count(",")
	switch {
	case l.size > maxReportSize:
		return 0, fmt.Errorf("it is larger than %d bytes", maxReportSize)
	case l.entries > MaxEntries:
		return 0, fmt.Errorf("it holds more than %d samples and other entries", MaxEntries)
	case l.values > MaxValues:
		return 0, fmt.Errorf("it holds more than about %d values", MaxValues)
	}
	return n, err
}

// Read reads one report of SchemaVersion or an older one. Fields it does not
// know are ignored. The error says that it is no report, that a newer dlbench wrote
// it, where it is broken, or that it is larger than maxReportSize, MaxEntries and
// MaxValues allow.
//
// A parameter that does not stand in its result's name comes back as Implied.
func Read(rd io.Reader) (*Report, error) {
	text := bufio.NewReader(rd)
	if mark, _ := text.Peek(3); string(mark) == "\xef\xbb\xbf" { // some editors put a byte order mark first
		text.Discard(len(mark))
	}
	r, l := new(Report), &limited{Reader: text}
	d := json.NewDecoder(l)
	err := d.Decode(r)
	switch {
	case r.SchemaVersion > SchemaVersion: // the rest of it need not fit the types of this version
		return nil, fmt.Errorf("written by a newer dlbench (schema %d; this one reads up to %d): update dlbench",
			r.SchemaVersion, SchemaVersion)
	case err != nil:
		return nil, explain(err, l.size)
	case r.SchemaVersion < 1:
		return nil, fmt.Errorf("%w: it has no schema_version from 1 on", errNotReport)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the report at byte %d: want one report in a file", d.InputOffset())
	}
	if err := cmp.Or(r.check(), r.checkNames()); err != nil {
		return nil, err
	}
	r.leaveOut(nonsense)
	for i := range r.Results {
		markImplied(&r.Results[i])
	}
	return r, nil
}

// ReadFile reads the report at path. Its errors are one line and name the path.
func ReadFile(path string) (r *Report, err error) {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		r, err = Read(f)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, withoutPath(err))
	}
	return r, nil
}

// explain turns an error of encoding/json about a document, of which size bytes were read, into
// one that a user of dlbench understands.
func explain(err error, size int) error {
	syntax, broken := errors.AsType[*json.SyntaxError](err)
	misfit, unfit := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return fmt.Errorf("report is cut off at byte %d", size)
	case broken && syntax.Offset <= 1:
		return fmt.Errorf("%w: it is no JSON", errNotReport)
	case broken:
		return fmt.Errorf("report is broken at byte %d: %w", syntax.Offset, err)
	case unfit:
		return fmt.Errorf("report is broken at byte %d: %s cannot be a JSON %s", misfit.Offset,
			cmp.Or(misfit.Field, "a report"), misfit.Value)
	}
	return fmt.Errorf("report cannot be read: %w", err)
}

// markImplied restores what the JSON does not hold: that a parameter is Implied
// shows in its absence from the name.
func markImplied(res *Result) {
	for i, p := range res.Params {
		part := "/" + p.Key + "=" + p.Text() + "/"
		res.Params[i].Implied = !strings.Contains(res.Name+"/", part)
	}
}

// withoutPath strips the operation and path of an error of package os.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
