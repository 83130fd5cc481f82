"""Stands in for PyTorch under torchcopy.py: copies take 1 s for 10e9 B, on a clock of
the module's own, and pageable memory the host's time."""

from types import SimpleNamespace

__version__ = "2.9.0"
uint8 = "uint8"
now = 0.0


class Tensor:
    def __init__(self, size, device=None):
        self.size, self.device, self.pinned = size, device, False

    def pin_memory(self):
        self.pinned = True
        return self

    def copy_(self, other, non_blocking=False):
        global now
        assert self.size == other.size and (self.device is None) != (other.device is None)
        host = self if self.device is None else other
        assert host.pinned == non_blocking, "pinned memory is copied without waiting, other memory with"
        now += self.size / 10e9


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        self.at = now

    def synchronize(self):
        pass

    def elapsed_time(self, stop):
        return (stop.at - self.at) * 1e3


class within:
    def __init__(self, device):
        pass

    def __enter__(self):
        pass

    def __exit__(self, *error):
        pass


def empty(size, dtype, device):
    return Tensor(size, device)


def randint(low, high, shape, dtype):
    assert (low, high, dtype) == (0, 256, uint8)
    return Tensor(shape[0])


def device(kind, index):
    return (kind, index)


cuda = SimpleNamespace(is_available=lambda: True, Event=Event, synchronize=lambda: None, device=within)
