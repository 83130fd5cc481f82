//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"errors"
	"fmt"
)

// unavailable says in one line why a driver that was found is of no use, and
// what to do where that is known. The result wraps ErrUnavailable and err.
func unavailable(err error) error {
	var code Code
	errors.As(err, &code)
	why := "the driver does not start"
	switch code {
	case NoDevice:
		why = "the driver finds no GPU" + hidden(cardsDir, 0)
	case StubLibrary:
		why = "libcuda.so.1 is the toolkit's stub instead of the driver: take its stubs folder off the library path"
	case SystemNotReady:
		why = "the driver waits for the system: is nvidia-fabricmanager running?"
	case DriverMismatch:
		why = "libcuda.so.1 and the kernel's driver differ in version: reload the nvidia modules or reboot"
	case CompatNotSupported:
		why = "the compatibility libcuda.so.1 of a toolkit or container does not work with this GPU: take it off the library path"
	case Unknown:
		why = "no permission or a broken driver: are /dev/nvidia* accessible and nvidia-uvm loaded?"
	}
	return fmt.Errorf("%w: %s: %w", ErrUnavailable, why, err)
}
