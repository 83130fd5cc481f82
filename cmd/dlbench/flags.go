package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dlbench/bench"
	"dlbench/bench/advise"
	"dlbench/bench/external"
	"dlbench/bench/suites"
	"dlbench/bench/theory"
	"dlbench/results"
)

// value is a flag of any type.
type value[T any] struct {
	at    *T
	kind  string                  // what help calls it
	parse func(string) (T, error) // errors say what is wanted
	text  func(T) string          // nil where nobody asks
}

func (v *value[T]) Type() string { return v.kind }

func (v *value[T]) String() string {
	if v.text == nil {
		return ""
	}
	return v.text(*v.at)
}

func (v *value[T]) Set(text string) error {
	x, err := v.parse(text)
	if err == nil {
		*v.at = x
	}
	return err
}

// choice adds a flag of one of a few words, by default the first, with its completion.
func choice(c *cobra.Command, at *string, name, doc string, allowed ...string) {
	*at = allowed[0]
	option(c, at, name, doc, allowed...)
}

// option is a choice that need not be made.
func option(c *cobra.Command, at *string, name, doc string, allowed ...string) {
	parse := func(text string) (string, error) {
		if !slices.Contains(allowed, text) {
			return "", errors.New(bench.Want(text, allowed))
		}
		return text, nil
	}
	c.Flags().Var(&value[string]{at, strings.Join(allowed, "|"), parse, strings.Clone}, name, doc)
	complete(c, name, allowed...)
}

// complete offers words as values of a flag.
func complete(c *cobra.Command, name string, words ...string) {
	c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// within is a flag of a number from least to most, 0 for no bound, which help calls kind, and errors what.
func within[T int | float64 | time.Duration](at *T, kind, what string, least, most T,
	parse func(string) (T, error)) pflag.Value {
	want := fmt.Sprintf("want %s from %v to %v", what, least, most)
	if most == 0 {
		want = fmt.Sprintf("want %s of at least %v", what, least)
	}
	check := func(text string) (T, error) {
		x, err := parse(text)
		if err != nil || !(x >= least) || most > 0 && x > most { // NaN is not
			return 0, errors.New(want)
		}
		return x, nil
	}
	text := func(x T) string { return strings.TrimPrefix(fmt.Sprint(x), "0s") } // no default worth a word
	return &value[T]{at, kind, check, text}
}

// count is a whole number.
func count(at *int, least, most int) pflag.Value {
	return within(at, "N", "a whole number", least, most, strconv.Atoi)
}

// amount is any number.
func amount(at *float64, least, most float64) pflag.Value {
	parse := func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
	return within(at, "N", "a number", least, most, parse)
}

// duration is a time, such as 60s.
func duration(at *time.Duration, least, most time.Duration) pflag.Value {
	return within(at, "duration", "a time, such as 40ms,", least, most, time.ParseDuration)
}

// devices is a list of device specifications; the flag may be repeated.
func devices(at *[]theory.Device) pflag.Value {
	parse := func(text string) ([]theory.Device, error) {
		all := slices.Clone(*at)
		for t := range strings.SplitSeq(text, ",") {
			s, err := theory.ParseDevice(t)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
		return all, nil
	}
	return &value[[]theory.Device]{at, "SPEC", parse, nil}
}

// loaders is a list of loaders to measure; the flag may be repeated.
func loaders(at *[]bench.Loader) pflag.Value {
	parse := func(text string) ([]bench.Loader, error) {
		l, err := external.ParseLoader(text)
		return append(slices.Clone(*at), l), err
	}
	return &value[[]bench.Loader]{at, "NAME", parse, nil}
}

// addDisk adds --disk, which doc explains.
func addDisk(c *cobra.Command, at *theory.DiskSpec, doc string) {
	doc += ": " + strings.Join(theory.DiskPresets(), ", ") + ", or RATE[:LATENCY]"
	parse := func(text string) (theory.DiskSpec, error) {
		d, err := theory.ParseDisk(text)
		if err != nil {
			err = fmt.Errorf("%w%s", err, bench.DidYouMean(text, theory.DiskPresets()))
		}
		return d, err
	}
	c.Flags().Var(&value[theory.DiskSpec]{at, "DISK", parse, nil}, "disk", doc)
	complete(c, "disk", theory.DiskPresets()...)
}

// addQuestion adds the flags that say what is to be fed.
func addQuestion(c *cobra.Command, q *advise.Question) {
	addNeed(c, &q.Need)
	addGPU(c, &q.GPU)
	c.Flags().Var(count(&q.GPUs, 1, 0), "gpus", "GPUs that train together; by default those that are found, or one")
}

// addNeed adds --need: 2500 or 2500/s.
func addNeed(c *cobra.Command, at *float64) {
	parse := func(text string) (float64, error) {
		return strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "/s"), 64)
	}
	c.Flags().Var(within(at, "RATE", "images/s, such as 2500/s,", 0.001, 1e9, parse), "need",
		"images/s that one GPU needs, such as 2500/s")
}

// addGPU adds --gpu.
func addGPU(c *cobra.Command, at *string) {
	var names []string
	for _, g := range theory.GPUs {
		names = append(names, g.Name)
	}
	parse := func(text string) (string, error) {
		g, ok := theory.GPUNamed(text)
		if !ok {
			const unknown = "dlbench knows no published figure for it: give --need, such as --need 2500/s, or one of %s"
			return "", fmt.Errorf(unknown, strings.Join(names, ", "))
		}
		return g.Name, nil
	}
	doc := "the GPU to feed, by a published figure (dlbench list has them): " + strings.Join(names, ", ")
	c.Flags().Var(&value[string]{at, "NAME", parse, nil}, "gpu", doc)
	complete(c, "gpu", names...)
}

// several tells whether more than one holds.
func several(all ...bool) bool { return len(results.Without(all, false)) > 1 }

// checkQuestion refuses to be told twice what is to be fed.
func checkQuestion(q advise.Question) error {
	if several(q.Need > 0, q.GPU != "", q.Step > 0) {
		return usagef("--need, --gpu, --step: each says what is to be fed: want one of them")
	}
	return nil
}

// axes is axis=v1,v2; the flag may be repeated.
func axes(at *map[string][]string) pflag.Value {
	parse := func(text string) (map[string][]string, error) {
		name, list, _ := strings.Cut(text, "=")
		values := strings.Split(list, ",")
		if name == "" || slices.Contains(values, "") {
			return nil, errors.New("want axis=value, such as mem=pinned,pageable (dlbench list shows the axes)")
		}
		for i, v := range values {
			if dtype, ok := theory.DTypeNamed(v); ok && name == "dtype" {
				values[i] = dtype
			}
		}
		all := map[string][]string{}
		maps.Copy(all, *at)
		all[name] = results.AppendNew(slices.Clone(all[name]), values...)
		return all, nil
	}
	return &value[map[string][]string]{at, "AXIS=V1,V2", parse, nil}
}

// axisWords are axis=value for the axes whose values are listed, axis= for others.
func axisWords() (words []string) {
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
	return words
}

// addBatch adds --batch, --shape and --dtype, by default the article's.
func addBatch(c *cobra.Command, b *theory.Batch) {
	*b = theory.ArticleBatch
	c.Flags().Var(count(&b.Images, 1, 0), "batch", "images in a batch")
	parse := func(text string) (theory.Batch, error) { return parseShape(*b, text) }
	shape := &value[theory.Batch]{b, "HxWxC", parse, formatShape}
	c.Flags().Var(shape, "shape", "height, width and channels of an image")
	addDType(c, &b.DType, "element type")
}

// addDType adds --dtype.
func addDType(c *cobra.Command, at *string, doc string) {
	parse := func(text string) (string, error) {
		dtype, ok := theory.DTypeNamed(text)
		if !ok {
			return "", errors.New(bench.Want(text, theory.DTypes))
		}
		return dtype, nil
	}
	c.Flags().Var(&value[string]{at, strings.Join(theory.DTypes, "|"), parse, strings.Clone}, "dtype", doc)
	complete(c, "dtype", theory.DTypes...)
}

func formatShape(b theory.Batch) string {
	return fmt.Sprintf("%dx%dx%d", b.Height, b.Width, b.Channels)
}

// mostChannels is how many channels a picture has at most: a shape that begins with so few is
// channels x height x width.
const mostChannels = 4

// parseShape returns b with images of the shape that text says.
func parseShape(b theory.Batch, text string) (theory.Batch, error) {
	_, err := fmt.Sscanf(text, "%dx%dx%d", &b.Height, &b.Width, &b.Channels)
	if err != nil || min(b.Height, b.Width, b.Channels) < 1 || formatShape(b) != text {
		return b, errors.New("want height x width x channels, each at least 1, such as 225x225x3")
	}
	if b.Height <= mostChannels && min(b.Width, b.Channels) > mostChannels {
		return b, fmt.Errorf("want height x width x channels: %dx%dx%d", b.Width, b.Channels, b.Height)
	}
	return b, nil
}
