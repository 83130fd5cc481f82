package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"dlbench/bench/pace"
	"dlbench/bench/theory"
)

// ErrNoSuchDevice says that there are devices, but not the one asked for.
var ErrNoSuchDevice = errors.New("no such device")

// autoLinks are what stands in for a GPU where there is none: the widths of claim A1.
var autoLinks = []string{"sim:gen3x4", "sim:gen3x8", "sim:gen3x16"}

// Open opens the devices that specs name, each once, in their order. With "auto"
// and no CUDA device, simulated links stand in and missing says why; CUDA devices
// asked for by number or as "all" are an error then, which wraps ErrUnavailable. A
// device holds nothing before it is bound: those not asked for need no Close.
func Open(specs []theory.Device) (devices []Device, missing error, err error) {
	for _, s := range specs {
		named, why, err := open(s)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", s.Text, err)
		}
		missing = cmp.Or(missing, why)
		for _, d := range named {
			if !slices.ContainsFunc(devices, func(have Device) bool { return have.Info().Spec == d.Info().Spec }) {
				devices = append(devices, d)
			}
		}
	}
	return devices, missing, nil
}

// open returns the devices that s names.
func open(s theory.Device) (devices []Device, missing error, err error) {
	if s.Sim() {
		return []Device{NewSim(s, pace.Real)}, nil, nil
	}
	all, err := cudaDevices()
	switch {
	case err != nil && s.Auto:
		for _, text := range autoLinks {
			link, _ := theory.ParseDevice(text) // which is a device
			devices = append(devices, NewSim(link, pace.Real))
		}
		return devices, err, nil
	case err != nil || s.Auto || s.All:
		return all, nil, err
	case s.Index >= len(all):
		return nil, nil, fmt.Errorf("%w: want cuda:0 to cuda:%d%s", ErrNoSuchDevice, len(all)-1, hidden())
	case s.Loaded():
		return []Device{newLoaded(all[s.Index], s)}, nil, nil
	}
	return all[s.Index : s.Index+1], nil, nil
}

// hidden mentions the variable that hides GPUs where it is set.
func hidden() string {
	v, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES")
	if !ok {
		return ""
	}
	return fmt.Sprintf(" (CUDA_VISIBLE_DEVICES=%q)", v)
}
