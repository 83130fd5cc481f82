package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Param is one parameter of a case. Value is a string, int64, float64 or bool.
type Param struct {
	Key   string
	Value any
	// Implied marks a value that goes without saying: it stands in the JSON
	// parameters but not in the case's name.
	Implied bool
}

// Params are the parameters of a case in the order of its name. As JSON they
// are an object with typed values in that order.
type Params []Param

// Find returns the parameter of that key, and whether it is there.
func (p Params) Find(key string) (Param, bool) {
	for _, q := range p {
		if q.Key == key {
			return q, true
		}
	}
	return Param{Value: ""}, false
}

// Text returns the value of key as the text that stands in a name, "" when it is not there.
func (p Params) Text(key string) string {
	q, _ := p.Find(key)
	return q.Text()
}

// ParamKeys are those of the parameters of all results, in the order in which they first stand.
func ParamKeys(all ...*Result) (keys []string) {
	for _, res := range all {
		for _, p := range res.Params {
			keys = AppendNew(keys, p.Key)
		}
	}
	return keys
}

// With returns a copy of p in which key has the value v, at its old place or at
// the end.
func (p Params) With(key string, v any) Params {
	with := Param{Key: key, Value: v}
	i := slices.IndexFunc(p, func(old Param) bool { return old.Key == key })
	if i < 0 {
		return append(slices.Clone(p), with)
	}
	return slices.Concat(p[:i], Params{with}, p[i+1:])
}

// Name returns suite/key=value/... without the implied parameters.
func (p Params) Name(suite string) string {
	for _, q := range p {
		if !q.Implied {
			suite += "/" + q.Key + "=" + q.Text()
		}
	}
	return suite
}

// Text is the value as it stands in a name.
func (p Param) Text() string {
	if v, ok := p.Value.(float64); ok {
		if n, ok := whole(v); ok {
			return strconv.FormatInt(n, 10)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(p.Value)
}

// whole returns v as an int64 when it is one. JSON does not tell 216.0 from 216,
// so both must have one text, or a name would not match what is read back.
func whole(v float64) (n int64, ok bool) {
	if v != math.Trunc(v) || math.Abs(v) >= 1<<63 {
		return 0, false
	}
	return int64(v), true
}

// MarshalJSON writes an object in the order of p.
func (p Params) MarshalJSON() ([]byte, error) {
	var members []string
	for _, q := range p {
		k, _ := json.Marshal(q.Key) // a text can always be written
		v, err := json.Marshal(q.Value)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", q.Key, err)
		}
		members = append(members, string(k)+":"+string(v))
	}
	return []byte("{" + strings.Join(members, ",") + "}"), nil
}

// UnmarshalJSON reads an object, keeping its order. Whole numbers become int64.
func (p *Params) UnmarshalJSON(data []byte) (err error) {
	*p = nil
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if t, _ := d.Token(); t == nil {
		return nil
	} else if t != json.Delim('{') {
		return fmt.Errorf("parameters: want an object, have %v", t)
	}
	for d.More() {
		key, _ := d.Token() // who calls this has checked that all of it is JSON
		v, _ := d.Token()
		q := Param{Key: key.(string)}
		if q.Value, err = paramValue(v); err != nil {
			return fmt.Errorf("parameter %s: %w", key, err)
		}
		*p = append(*p, q)
	}
	return nil
}

// paramValue is what a token of JSON means as a parameter.
func paramValue(t json.Token) (any, error) {
	switch x := t.(type) {
	case string, bool:
		return x, nil
	case json.Number:
		if n, err := strconv.ParseInt(x.String(), 10, 64); err == nil {
			return n, nil
		}
		f, err := x.Float64()
		if n, ok := whole(f); ok && err == nil {
			return n, nil
		}
		return f, err
	}
	return nil, fmt.Errorf("want a string, a number or a boolean, have %v", t)
}
