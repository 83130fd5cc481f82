"""Checks wrap and probe of dlbench.py in training loops of PyTorch on the CPU: loaders that sleep
and steps that sleep, so that the stall is known. Run it on a quiet machine.

usage: check-wrap.py [SECONDS]      of each phase of probe, 4 unless given

Prints a line a case, and exits with 1 where a figure is off by more than 5 %.
"""

import contextlib
import io
import json
import os
import socket
import statistics
import sys
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench", "external", "python"))
import dlbench  # noqa: E402

BATCH = 32
LOAD, STEP = 0.030, 0.010  # s of a batch and of a step


class Sleeping(Dataset):
    """Batches that take so long to make; each says how long it really took."""

    def __init__(self, each, batches=10**9):
        self.each, self.batches = each, batches

    def __len__(self):
        return self.batches

    def __getitem__(self, i):
        began = time.perf_counter()
        time.sleep(self.each)
        return torch.full((BATCH, 4), time.perf_counter() - began, dtype=torch.float64)


def loader(each, prefetch, batches=10**9):
    workers = {"num_workers": 1, "prefetch_factor": prefetch} if prefetch else {}
    return DataLoader(Sleeping(each, batches), batch_size=None, **workers)


def train(batches, prefetch, each=LOAD, exchange=lambda: None):
    """Trains, and returns the mean times that a batch and a step really took."""
    made, steps = [], []
    for batch in dlbench.wrap(loader(each, prefetch, batches)):
        began = time.perf_counter()
        time.sleep(STEP)
        exchange()
        steps.append(time.perf_counter() - began)
        made.append(float(batch[0, 0]))
    return statistics.fmean(made[1:]), statistics.fmean(steps[1:])


def rank(number, address, prefetch, folder):
    """One of two processes that exchange gradients; the loader of the second one is slow."""
    torch.set_num_threads(1)
    os.environ["DLBENCH_OUT"] = folder
    torch.distributed.init_process_group("gloo", init_method=address, rank=number, world_size=2)
    gradient = torch.ones(16)
    batches = 200 if prefetch else 80
    each = LOAD if number == 1 else LOAD / 10
    times = train(batches, prefetch, each, lambda: torch.distributed.all_reduce(gradient))
    if number == 1:
        with open(os.path.join(folder, "times.json"), "w", encoding="ascii") as file:
            json.dump(times, file)
    torch.distributed.destroy_process_group()


def medians(folder):
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        return {m["name"]: m["median"] for m in json.load(file)["results"][0]["metrics"]}


class Checks:
    """Figures held against what they must be."""

    failed = False

    def __call__(self, what, have, want):
        off = have / want - 1
        self.failed |= abs(off) > 0.05
        print(f"{what:44} {have:12.6g}  want {want:12.6g}  off by {100 * off:+.1f} %", flush=True)


def main():
    check = Checks()
    torch.set_num_threads(1)
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 4
    for prefetch in 0, 8:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["DLBENCH_OUT"] = folder
            made, step = train(200 if prefetch else 80, prefetch)
            stall = made - step if prefetch else made
            have = medians(folder)
            check(f"wrap, prefetch {prefetch}: stall, s", have["stall"], stall)
            check(f"wrap, prefetch {prefetch}: needed images/s", have["need"], BATCH / step)
            check(f"wrap, prefetch {prefetch}: reached images/s", have["throughput"], BATCH / (stall + step))
    for prefetch in 0, 8:
        with tempfile.TemporaryDirectory() as folder, socket.socket() as port:
            port.bind(("127.0.0.1", 0))
            address = f"tcp://127.0.0.1:{port.getsockname()[1]}"
            port.close()
            torch.multiprocessing.spawn(rank, (address, prefetch, folder), nprocs=2)
            with open(os.path.join(folder, "times.json"), encoding="ascii") as file:
                made, step = json.load(file)
            have = medians(folder)
            stall = made - step if prefetch else made
            check(f"two ranks, one slow, prefetch {prefetch}: stall, s", have["stall"], stall)
            check(f"two ranks, prefetch {prefetch}: needed images/s", have["need"], 2 * BATCH / step)
    for prefetch in 0, 8:
        made, steps = set(), []

        def step(batch):
            began = time.perf_counter()
            time.sleep(STEP)
            steps.append(time.perf_counter() - began)
            made.add(float(batch[0, 0]))

        with tempfile.TemporaryDirectory() as folder:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                dlbench.probe(loader(LOAD, prefetch), step, seconds, out=folder)
            print(out.getvalue(), end="")
            have = medians(folder)
        load, takes = statistics.fmean(made), statistics.fmean(steps)
        together = load if prefetch else load + takes
        check(f"probe, prefetch {prefetch}: feeds", have["feeds"], BATCH / load)
        check(f"probe, prefetch {prefetch}: step takes", have["need"], BATCH / takes)
        check(f"probe, prefetch {prefetch}: together", have["throughput"], BATCH / together)
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
