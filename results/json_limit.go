package results

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
)

// Limits of a report, so that no small document makes Read take gigabytes: "{}," is
// three bytes, and once decoded a Sample takes 56, a case, metric or disk 200 to 300. A
// run of a few hundred cases has some thousand metrics and some ten thousand samples.
const (
	// MaxEntries bounds samples and all other objects of a report.
	MaxEntries = 1_000_000
	// maxOuter bounds those of them that do not stand in a metric, and the metrics.
	maxOuter = MaxEntries / 10
	// MaxValues bounds numbers, texts and everything else in lists and objects.
	MaxValues = 8 * MaxEntries
	// maxNames bounds the different names of parameters, metrics and references: each
	// is a column of a table that has a row for each case. A report of all suites has some sixty.
	maxNames = 300
)

// readAll is io.ReadAll of at most limit bytes, in one piece where rd knows its size.
func readAll(rd io.Reader, limit int64) ([]byte, error) {
	var b bytes.Buffer
	if f, ok := rd.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			b.Grow(int(min(st.Size(), limit)) + bytes.MinRead)
		}
	}
	_, err := b.ReadFrom(io.LimitReader(rd, limit+1))
	if err == nil && int64(b.Len()) > limit {
		err = fmt.Errorf("report is larger than %d bytes", limit)
	}
	return b.Bytes(), err
}

// outerDepth is how many objects a metric stands in, itself included: the report, a case.
const outerDepth = 3

// checkSize counts what the JSON holds without decoding it.
func checkSize(data []byte, maxEntries, maxOuter, maxValues int) error {
	entries, outer, values, depth := 0, 0, 1, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '{':
			entries++
			values++
			if depth++; depth <= outerDepth {
				outer++
			}
		case '}':
			depth--
		case '[', ',':
			values++
		}
	}
	switch {
	case entries > maxEntries:
		return fmt.Errorf("report holds %d samples and other entries: at most %d are read", entries, maxEntries)
	case outer > maxOuter:
		return fmt.Errorf("report holds %d cases, metrics and the like: at most %d are read", outer, maxOuter)
	case values > maxValues:
		return fmt.Errorf("report holds about %d values: at most %d are read", values, maxValues)
	}
	return nil
}
