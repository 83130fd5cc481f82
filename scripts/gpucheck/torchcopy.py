"""Copies between host and GPU with PyTorch, timed by events: what gpu-check.sh
compares dlbench with where there is no nvbandwidth.

usage: torchcopy.py --probe | DEVICE BYTES...

Prints a line of a Go benchmark for each sample.
"""

import sys
import time

import torch

SAMPLES = 7
SHORTEST = 0.02  # s of copies in a sample
MOST = 64


def pinned_rates(dst, src, size):
    """Samples of copies from or to page-locked memory, behind a first copy."""

    def sample(n):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        dst.copy_(src, non_blocking=True)
        start.record()
        for _ in range(n):
            dst.copy_(src, non_blocking=True)
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / 1e3 / n

    n = max(1, min(MOST, int(SHORTEST / max(sample(2), 1e-6))))
    return [size / sample(n) for _ in range(SAMPLES)]


def pageable_rates(dst, src, size):
    """Samples of copies from or to pageable memory, by the host's clock."""

    def sample(n):
        start = time.perf_counter()
        for _ in range(n):
            dst.copy_(src)
            torch.cuda.synchronize()
        return (time.perf_counter() - start) / n

    n = max(1, min(MOST, int(SHORTEST / max(sample(2), 1e-6))))
    return [size / sample(n) for _ in range(SAMPLES)]


def main():
    if not torch.cuda.is_available():
        sys.exit("torchcopy: PyTorch reaches no GPU")
    if sys.argv[1:] == ["--probe"]:
        print(torch.__version__)
        return
    device = torch.device("cuda", int(sys.argv[1]))
    with torch.cuda.device(device):
        for size in map(int, sys.argv[2:]):
            on_device = torch.empty(size, dtype=torch.uint8, device=device)
            for mem, rates in (("pinned", pinned_rates), ("pageable", pageable_rates)):
                host = torch.randint(0, 256, (size,), dtype=torch.uint8)
                if mem == "pinned":
                    host = host.pin_memory()
                for direction, dst, src in (("h2d", on_device, host), ("d2h", host, on_device)):
                    for rate in rates(dst, src, size):
                        print(f"BenchmarkTorch/dir={direction}/mem={mem}/bytes={size} 1 {rate} B/s")


main()
