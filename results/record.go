package results

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Record is what a suite records of a case next to its metrics, such as its proof or its
// fit: a struct of the suite, and an object as JSON. One that was read keeps its text, so
// that load, merge and save lose nothing of it, whatever version wrote it.
type Record struct {
	value any
	text  json.RawMessage
}

// RecordOf is the record of a struct or of a pointer to one.
func RecordOf(v any) Record { return Record{value: v} }

// IsZero tells whether there is nothing in r.
func (r Record) IsZero() bool { return r.value == nil && r.text == nil }

// MarshalJSON writes what was read, or else the struct.
func (r Record) MarshalJSON() ([]byte, error) {
	if r.text != nil {
		return r.text, nil
	}
	return json.Marshal(r.value)
}

// UnmarshalJSON keeps what there is as it is.
func (r *Record) UnmarshalJSON(data []byte) error {
	var text bytes.Buffer
	err := json.Compact(&text, data)
	*r = Record{text: text.Bytes()}
	return err
}

// As is the record or the parameters of a case as a struct of its suite, such as
// As[PCIeParams](r.Params) and As[PCIeProof](r.Proof). What a report lacks, or has of another
// kind, is zero.
func As[T any](from json.Marshaler) (t T) {
	if data, err := from.MarshalJSON(); err == nil {
		_ = json.Unmarshal(data, &t) // what does not fit leaves the rest
	}
	return t
}

// ParamsOf are the parameters that a suite's struct says, in the order of its fields.
// Those of names in implied stand in no name.
func ParamsOf(v any, implied func(key, text string) bool) (p Params, err error) {
	data, err := json.Marshal(v)
	if err == nil {
		err = p.UnmarshalJSON(data)
	}
	for i := range p {
		p[i].Implied = implied(p[i].Key, p[i].Text())
	}
	return p, err
}

// OrUnknown is a value, or why it is not known, as a text instead of the value.
type OrUnknown[T any] struct {
	Value T
	Why   string // "" where Value is known
}

func (o OrUnknown[T]) either() any {
	if o.Why != "" {
		return o.Why
	}
	return o.Value
}

func (o OrUnknown[T]) String() string { return fmt.Sprint(o.either()) }

// MarshalJSON writes the value or the text.
func (o OrUnknown[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.either()) }

// UnmarshalJSON reads a value or a text; what is neither is zero.
func (o *OrUnknown[T]) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &o.Why) != nil {
		_ = json.Unmarshal(data, &o.Value)
	}
	return nil
}

// Proven tells whether a case that has to prove something did; known is false for one
// that has nothing to prove.
func (r *Result) Proven() (proven, known bool) {
	proven, known = As[struct{ Proven any }](r.Proof).Proven.(bool)
	return proven, known
}
