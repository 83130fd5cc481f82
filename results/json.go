package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// maxReportSize is the size in bytes up to which Read takes a report.
const maxReportSize = 256 << 20

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
		return EncodeJSON(w, finite(&c), indent)
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

// Read reads one report of SchemaVersion or an older one. Fields it does not
// know are ignored. The error says that it is no report, that a newer dlbench wrote
// it, where it is broken, or that it is larger than maxReportSize, MaxEntries and
// MaxValues allow.
//
// A parameter that does not stand in its result's name comes back as Implied.
func Read(rd io.Reader) (*Report, error) { return read(rd, maxReportSize) }

// read is Read of at most limit bytes.
func read(rd io.Reader, limit int64) (*Report, error) {
	data, err := io.ReadAll(io.LimitReader(rd, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("report is larger than %d bytes", limit)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // some editors put a byte order mark first
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%w: it is empty", errNotReport)
	}
	if err := checkSize(data); err != nil {
		return nil, err
	}
	r := new(Report)
	err = json.Unmarshal(data, r)
	if err != nil || r.SchemaVersion < 1 || r.SchemaVersion > SchemaVersion {
		// Only now, since it reads all of data once more.
		if err := checkVersion(data); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, explain(err, len(data))
	}
	if err := check(r); err != nil {
		return nil, err
	}
	if err := r.sensible(); err != nil {
		return nil, err
	}
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

// checkVersion looks at schema_version alone: the rest of a newer report need
// not fit the types of this version.
func checkVersion(data []byte) error {
	var head struct {
		Version json.RawMessage `json:"schema_version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return fmt.Errorf("%w: want a JSON object, have %s", errNotReport, e.Value)
		}
		return explain(err, len(data))
	}
	if head.Version == nil {
		return fmt.Errorf("%w: it has no schema_version", errNotReport)
	}
	var version int
	if err := json.Unmarshal(head.Version, &version); err != nil || version < 1 {
		return fmt.Errorf("%w: its schema_version is %.20q, no whole number from 1", errNotReport, head.Version)
	}
	if version > SchemaVersion {
		return fmt.Errorf("written by a newer dlbench (schema %d; this one reads up to %d): update dlbench", version,
			SchemaVersion)
	}
	return nil
}

// explain turns an error of encoding/json about a document of size bytes into
// one that a user of dlbench understands.
func explain(err error, size int) error {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		// In a number at the end the decoder complains of a space of its own.
		inNumber := e.Offset >= int64(size) && strings.HasPrefix(e.Error(), "invalid character ' '")
		switch {
		case inNumber, e.Error() == "unexpected end of JSON input":
			return fmt.Errorf("report is cut off at byte %d", size)
		case strings.HasSuffix(e.Error(), "after top-level value"):
			return fmt.Errorf("something follows the report at byte %d: want one report in a file", e.Offset)
		case e.Offset <= 1:
			return fmt.Errorf("%w: it is no JSON", errNotReport)
		}
		return fmt.Errorf("report is broken at byte %d: %w", e.Offset, e)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("report is broken at byte %d: %s cannot be a %s", e.Offset, e.Field, e.Value)
	}
	return fmt.Errorf("report is broken: %w", err)
}

// check says what r lacks of what every report has.
func check(r *Report) error {
	if r.Status != Complete && r.Status != Interrupted {
		return fmt.Errorf("report has the status %q: want %s or %s", r.Status, Complete, Interrupted)
	}
	names := map[string]bool{}
	for i, res := range r.Results {
		for _, p := range res.Params {
			names[p.Key] = true
		}
		for _, ref := range res.References {
			names[ref.Name] = true
		}
		if res.Name == "" || res.Suite == "" {
			return fmt.Errorf("result %d has no name or no suite", i)
		}
		switch res.Status {
		case OK, Skipped, Failed:
		default:
			return fmt.Errorf("result %q has the status %q: want %s, %s or %s", res.Name, res.Status, OK, Skipped,
				Failed)
		}
		for j, m := range res.Metrics {
			if m.Name == "" {
				return fmt.Errorf("result %q: metric %d has no name", res.Name, j)
			}
			names[m.Name] = true
		}
	}
	if len(names) > maxNames {
		return fmt.Errorf("report has %d different parameters, metrics and references: at most %d are read",
			len(names), maxNames)
	}
	return nil
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

// Limits of a report, so that no small document makes Read take gigabytes: "{}," is
// three bytes, and once decoded a Sample takes 56, a case, metric or disk 200 to 300. A
// run of a few hundred cases has some thousand metrics and some ten thousand samples.
const (
	// MaxEntries bounds samples and all other objects of a report.
	MaxEntries = 1_000_000
	// MaxValues bounds numbers, texts and everything else in lists and objects.
	MaxValues = 8 * MaxEntries
	// maxNames bounds the different names of parameters, metrics and references: each
	// is a column of a table that has a row for each case. A report of all suites has some sixty.
	maxNames = 300
)

// checkSize compares what the JSON would become with the limits, without decoding it. It takes
// signs in texts for what they are elsewhere.
func checkSize(data []byte) error {
	entries := bytes.Count(data, []byte("{"))
	values := entries + bytes.Count(data, []byte("[")) + bytes.Count(data, []byte(","))
	switch {
	case entries > MaxEntries:
		return fmt.Errorf("report holds %d samples and other entries: at most %d are read", entries, MaxEntries)
	case values > MaxValues:
		return fmt.Errorf("report holds about %d values: at most %d are read", values, MaxValues)
	}
	return nil
}

// finite returns r without what JSON cannot hold, so that a NaN in one case loses no report: a
// metric, reference, series, proof, fit, finding, prediction or verdict that has a number that is
// not finite is left out, with a warning. It copies what it changes.
func finite(r *Report) *Report {
	c := *r
	c.Warnings = slices.Clone(r.Warnings)
	c.Findings = writable(r.Findings, &c.Warnings, func(f Finding) string { return "finding " + f.Claim })
	c.Predictions = writable(r.Predictions, &c.Warnings, func(p Prediction) string { return "prediction " + p.Change })
	orNothing(&c.Verdict, &c.Warnings, "the verdict")
	c.Results = slices.Clone(r.Results)
	for i := range c.Results {
		finiteResult(&c.Results[i])
	}
	return &c
}

func finiteResult(r *Result) {
	r.Warnings = slices.Clone(r.Warnings)
	r.Metrics = writable(r.Metrics, &r.Warnings, func(m Metric) string { return "metric " + m.Name })
	r.References = writable(r.References, &r.Warnings, func(ref Reference) string { return "reference " + ref.Name })
	r.Series = writable(r.Series, &r.Warnings, func(s Series) string { return "series " + s.Name })
	orNothing(&r.Proof, &r.Warnings, "proof")
	orNothing(&r.Fit, &r.Warnings, "fit")
}

// writable is what of list JSON can hold; what it cannot is named in warnings.
func writable[T any](list []T, warnings *[]string, name func(T) string) []T {
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool {
		_, err := json.Marshal(x)
		if err != nil {
			*warnings = append(*warnings, name(x)+" was left out: it has a number that is not finite")
		}
		return err != nil
	})
}

// orNothing sets what JSON cannot hold to its zero value.
func orNothing[T any](part *T, warnings *[]string, name string) {
	if len(writable([]T{*part}, warnings, func(T) string { return name })) == 0 {
		*part = *new(T)
	}
}
