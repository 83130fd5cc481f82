package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/results"
)

func newInfo() *cobra.Command {
	c := &cobra.Command{Use: "info"}
	c.RunE = func(c *cobra.Command, _ []string) error {
		h, missing, err := bench.Machine("/")
		if err != nil {
			return err
		}
		text := func(w io.Writer) error { return writeInfo(w, h, missing) }
		return forms{"text": text, "json": jsonOf(h)}.print(c)
	}
	addFormat(c, "text", "json")
	return c
}

func writeInfo(w io.Writer, h results.Host, missing error) error {
	lines := newColumns(w, 0)
	for _, p := range h.Properties() {
		name := p.What
		for text := range strings.SplitSeq(cmp.Or(p.Text, results.Unknown), "\n") {
			lines.row("%s\t%s", name, text)
			name = ""
		}
		if p.What == "GPUs" {
			lines.visible(h.GPUs, missing)
		}
	}
	return lines.Flush()
}

// visible adds what is to be known of the GPUs; missing is why none can be used, or nil.
func (c columns) visible(gpus []results.GPU, missing error) {
	unseen, idle := "", false
	n := 0
	for _, g := range gpus {
		idle = idle || g.Link.GTs > 0
		if g.Index == nil {
			n++
			unseen = fmt.Sprintf(", %d hidden", n)
		}
	}
	if idle {
		c.row("\tan idle GPU slows its link down; run reads it while copying")
	}
	if missing != nil {
		c.row("\tnone to copy to: %s", missing)
	} else if v, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
		c.row("\tchosen and numbered by CUDA_VISIBLE_DEVICES=%q%s", v, unseen)
	}
}
