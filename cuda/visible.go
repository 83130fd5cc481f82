package cuda

import (
	"fmt"
	"os"
)

// cardsDir has an entry for each GPU that NVIDIA's kernel driver runs, hidden from
// CUDA or not. WSL2 has none.
const cardsDir = "/proc/driver/nvidia/gpus"

// hidden mentions the variable that hides GPUs where it is set, and how many of
// those in dir it hides when CUDA sees that many.
func hidden(dir string, seen int) string {
	v, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES")
	if !ok {
		return ""
	}
	if cards, err := os.ReadDir(dir); err == nil && len(cards) > seen {
		return fmt.Sprintf(" (CUDA_VISIBLE_DEVICES=%q hides %d of %d)", v, len(cards)-seen, len(cards))
	}
	return fmt.Sprintf(" (CUDA_VISIBLE_DEVICES=%q)", v)
}
