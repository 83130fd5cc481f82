package main

import (
	"errors"
	"fmt"
	"strings"

	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/loader/transform"
)

// describe says what a worker does, and with what.
func describe(decoder string, cores int) (does string, software map[string]string) {
	does = fmt.Sprintf("dlbench's loader, decoder %s, %d threads, antialiased", decoder, cores)
	if cores == 1 {
		does = fmt.Sprintf("dlbench's loader, decoder %s, 1 thread, antialiased", decoder)
	}
	software = map[string]string{}
	if version, ok := strings.CutPrefix(loader.DecoderName(decoder), "libjpeg-turbo "); ok {
		software["libjpeg-turbo"] = version
	}
	return does, software
}

func newPreprocessor(decoder string) (*loader.Preprocessor, error) {
	p, err := loader.NewPreprocessor(loader.PreprocessOptions{Decoder: decoder, Seed: 1,
		Sample: transform.Options{Height: height, Width: width, DType: "float32", Layout: "nhwc"}})
	if errors.Is(err, decode.ErrNoLibrary) {
		return nil, &skipError{err}
	}
	return p, err
}
