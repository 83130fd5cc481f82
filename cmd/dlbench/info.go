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
	"dlbench/results/encode"
)

func newInfo() *cobra.Command {
	c := &cobra.Command{Use: "info"}
	c.RunE = func(c *cobra.Command, _ []string) error {
		h, missing, err := bench.Machine("/")
		if err != nil {
			return err
		}
		text := func(w io.Writer) error { return encode.WriteText(w, textWidth(c), infoTable(h, missing)) }
		return forms{"text": text, "json": jsonOf(h)}.print(c)
	}
	addFormat(c, "text", "json")
	return c
}

// infoTable is what is known of the machine; missing is why no GPU can be used, or nil.
func infoTable(h results.Host, missing error) (t encode.Table) {
	for _, p := range h.Properties() {
		lines := strings.Split(cmp.Or(p.Text, results.Unknown), "\n")
		if p.What == "GPUs" {
			lines = append(lines, visible(h.GPUs, missing)...)
		}
		for i, line := range lines {
			if i > 0 {
				p.What = ""
			}
			t.Row(p.What, line)
		}
	}
	return t
}

// visible is what is to be known of the GPUs.
func visible(gpus []results.GPU, missing error) (lines []string) {
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
		lines = append(lines, "an idle GPU slows its link down; run reads it while copying")
	}
	if missing != nil {
		lines = append(lines, fmt.Sprintf("none to copy to: %s", missing))
	} else if v, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
		lines = append(lines, fmt.Sprintf("chosen and numbered by CUDA_VISIBLE_DEVICES=%q%s", v, unseen))
	}
	return lines
}
