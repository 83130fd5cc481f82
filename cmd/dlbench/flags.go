package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dlbench/bench/suites"
	"dlbench/bench/theory"
	"dlbench/cuda"
)

// shapeFlag is height x width x channels.
type shapeFlag struct{ h, w, c int }

func (s *shapeFlag) String() string { return fmt.Sprintf("%dx%dx%d", s.h, s.w, s.c) }
func (s *shapeFlag) Type() string   { return "HxWxC" }

func (s *shapeFlag) Set(text string) error {
	parts := strings.Split(text, "x")
	var n [3]int
	if len(parts) != len(n) {
		return fmt.Errorf("want height x width x channels, such as 225x225x3")
	}
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v < 1 {
			return fmt.Errorf("want height x width x channels, each at least 1, such as 225x225x3")
		}
		n[i] = v
	}
	*s = shapeFlag{n[0], n[1], n[2]}
	return nil
}

// choiceFlag is one of a few words.
type choiceFlag struct {
	value   string
	allowed []string
}

func (c *choiceFlag) String() string { return c.value }
func (c *choiceFlag) Type() string   { return strings.Join(c.allowed, "|") }

func (c *choiceFlag) Set(text string) error {
	if !slices.Contains(c.allowed, text) {
		return fmt.Errorf("want %s", strings.Join(c.allowed, ", "))
	}
	c.value = text
	return nil
}

// choice adds a choiceFlag with its completion.
func choice(c *cobra.Command, name, doc string, allowed ...string) *choiceFlag {
	f := &choiceFlag{allowed[0], allowed}
	c.Flags().Var(f, name, doc)
	c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
	return f
}

// countFlag is a whole number of at least min.
type countFlag struct{ value, min int }

func (n *countFlag) String() string { return strconv.Itoa(n.value) }
func (n *countFlag) Type() string   { return "N" }

func (n *countFlag) Set(text string) error {
	v, err := strconv.Atoi(text)
	if err != nil || v < n.min {
		return fmt.Errorf("want a whole number of at least %d", n.min)
	}
	n.value = v
	return nil
}

// deviceFlag is a list of device specifications; the flag may be repeated.
type deviceFlag struct{ specs []cuda.Spec }

func (d *deviceFlag) Type() string { return "SPEC" }

func (d *deviceFlag) String() string {
	var s []string
	for _, x := range d.specs {
		s = append(s, x.Text)
	}
	return strings.Join(s, ",")
}

func (d *deviceFlag) Set(text string) error {
	for _, t := range strings.Split(text, ",") {
		s, err := cuda.ParseSpec(t)
		if err != nil {
			return err
		}
		d.specs = append(d.specs, s)
	}
	return nil
}

// diskFlag is a disk to emulate.
type diskFlag struct{ spec theory.DiskSpec }

func (d *diskFlag) String() string { return d.spec.Name }
func (d *diskFlag) Type() string   { return "DISK" }

func (d *diskFlag) Set(text string) (err error) {
	d.spec, err = theory.ParseDisk(text)
	return err
}

// axesFlag is axis=v1,v2; the flag may be repeated.
type axesFlag struct{ values map[string][]string }

func (a *axesFlag) Type() string { return "AXIS=V1,V2" }

func (a *axesFlag) String() string {
	var s []string
	for k, v := range a.values {
		s = append(s, k+"="+strings.Join(v, ","))
	}
	slices.Sort(s)
	return strings.Join(s, " ")
}

func (a *axesFlag) Set(text string) error {
	name, list, ok := strings.Cut(text, "=")
	if !ok || name == "" || list == "" {
		return fmt.Errorf("want axis=value, such as mem=pinned,pageable (dlbench list shows the axes)")
	}
	if a.values == nil {
		a.values = map[string][]string{}
	}
	for _, v := range strings.Split(list, ",") {
		if v == "" {
			return fmt.Errorf("an empty value: want axis=value, such as mem=pinned,pageable")
		}
		if !slices.Contains(a.values[name], v) {
			a.values[name] = append(a.values[name], v)
		}
	}
	return nil
}

// completeAxis offers axis=value for the axes whose values are listed.
func completeAxis(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, s := range suites.All {
		for _, a := range s.Axes {
			for _, v := range a.Values {
				words = append(words, a.Name+"="+v)
			}
			if len(a.Values) == 0 {
				words = append(words, a.Name+"=")
			}
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// batchFlags are --batch, --shape and --dtype.
type batchFlags struct {
	images countFlag
	shape  shapeFlag
	dtype  *choiceFlag
}

func addBatch(c *cobra.Command) *batchFlags {
	a := theory.ArticleBatch
	f := &batchFlags{images: countFlag{a.Images, 1}, shape: shapeFlag{a.Height, a.Width, a.Channels}}
	c.Flags().Var(&f.images, "batch", "images in a batch")
	c.Flags().Var(&f.shape, "shape", "height, width and channels of an image")
	f.dtype = choice(c, "dtype", "element type", theory.DTypes...)
	return f
}

func (f *batchFlags) batch() theory.Batch {
	return theory.Batch{Images: f.images.value, Height: f.shape.h, Width: f.shape.w, Channels: f.shape.c, DType: f.dtype.value}
}

var (
	_ pflag.Value = (*shapeFlag)(nil)
	_ pflag.Value = (*choiceFlag)(nil)
	_ pflag.Value = (*countFlag)(nil)
	_ pflag.Value = (*deviceFlag)(nil)
	_ pflag.Value = (*axesFlag)(nil)
)
