package cuda

import (
	"errors"
	"fmt"

	"dlbench/bench/pace"
)

// ErrNoSuchDevice says that there are devices, but not the one asked for.
var ErrNoSuchDevice = errors.New("no such device")

// autoLinks are what stands in for a GPU where there is none: the widths of claim A1.
var autoLinks = []string{"sim:gen3x4", "sim:gen3x8", "sim:gen3x16"}

// Open opens the devices that specs name, each once, in their order. With "auto"
// and no CUDA device, assumed links stand in and missing says why; CUDA devices
// asked for by number or as "all" are an error then, which wraps ErrUnavailable. A
// device behind a loaded link is opened anew: what it holds is its own.
func Open(specs []Spec) (devices []Device, missing error, err error) {
	var gpus []Device
	var unavailable error
	probed := false
	probe := func() {
		if !probed {
			gpus, unavailable = cudaDevices()
			probed = true
		}
	}
	seen := map[string]bool{}
	add := func(d Device) {
		if !seen[d.Info().Spec] {
			seen[d.Info().Spec] = true
			devices = append(devices, d)
		}
	}
	for _, s := range specs {
		switch {
		case s.Sim():
			add(NewSim(s, pace.Real))
		case s.Auto, s.All:
			if probe(); unavailable == nil {
				for _, g := range gpus {
					add(g)
				}
				continue
			}
			if s.All {
				err = fmt.Errorf("%s: %w", s.Text, unavailable)
				break
			}
			missing = unavailable
			if !errors.Is(unavailable, ErrUnavailable) {
				err = unavailable
				break
			}
			for _, text := range autoLinks {
				l, perr := ParseSpec(text)
				if perr != nil {
					return nil, nil, perr
				}
				add(NewSim(l, pace.Real))
			}
		default:
			if probe(); unavailable != nil {
				err = fmt.Errorf("%s: %w", s.Text, unavailable)
			} else if s.Index >= len(gpus) {
				err = fmt.Errorf("%s: %w: want cuda:0 to cuda:%d%s", s.Text, ErrNoSuchDevice, len(gpus)-1, hidden(cardsDir, len(gpus)))
			} else if !s.Loaded() {
				add(gpus[s.Index])
			} else if again, openErr := cudaDevices(); openErr != nil {
				err = fmt.Errorf("%s: %w", s.Text, openErr)
			} else {
				add(NewLoaded(again[s.Index], s))
			}
		}
		if err != nil {
			break
		}
	}
	if err != nil {
		for _, g := range gpus {
			g.Close()
		}
		return nil, nil, err
	}
	for _, g := range gpus {
		if !seen[g.Info().Spec] {
			g.Close()
		}
	}
	return devices, missing, nil
}
