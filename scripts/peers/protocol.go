package main

import "fmt"

// A worker writes one line of JSON when it is ready, and one after each pass; it makes
// a pass for each line that it reads, and ends when there are no more.

// hello is a worker's first line.
type hello struct {
	Files    int               `json:"files"`  // that it found
	Bytes    int64             `json:"bytes"`  // of them
	Images   int               `json:"images"` // in a pass
	Does     string            `json:"does"`   // how it preprocesses
	Software map[string]string `json:"software"`
	Skip     string            `json:"skip,omitempty"` // why it cannot take part
	Error    string            `json:"error,omitempty"`
}

// pass is a worker's line after a pass.
type pass struct {
	Images int     `json:"images"`
	Wall   float64 `json:"wall"` // s
	CPU    float64 `json:"cpu"`  // s, of the process and of those that it started
	Error  string  `json:"error,omitempty"`
}

func (p pass) check(want hello) error {
	switch {
	case p.Error != "":
		return fmt.Errorf("%s", p.Error)
	case p.Images != want.Images:
		return fmt.Errorf("a pass of %d images: want %d", p.Images, want.Images)
	case !(p.Wall > 0) || !(p.CPU > 0):
		return fmt.Errorf("a pass that took %g s and %g s of CPU time", p.Wall, p.CPU)
	}
	return nil
}
