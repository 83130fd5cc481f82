package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// WriteCompact writes r as Write does, without spaces and line breaks.
func WriteCompact(w io.Writer, r *Report) error {
	if r == nil {
		return errors.New("no report")
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(finite(r)); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	return nil
}
