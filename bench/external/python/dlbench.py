"""dlbench.py measures how many images a second a data loader in Python feeds to training.

It is one file without dependencies. `dlbench python > dlbench.py` writes it; put it next to
your script. There are three ways to use it; `dlbench help loaders` explains them.

1. Measure the loader alone. dlbench starts the script, and compares what it feeds with what
   your GPU needs and with dlbench's own loader. Run by hand, the script prints images/s.

       import dlbench

       def make(settings):
           data = MyDataset(settings.path)
           return DataLoader(data, settings.batch, num_workers=settings.workers)

       if __name__ == "__main__":
           dlbench.serve(make)

   $ dlbench run DIR --loader mine='python3 my_loader.py'

2. Measure how long your training waits for its loader, and what its steps need. The rest of
   the script stays as it is:

       for images, labels in dlbench.wrap(loader):
           ...

3. Ask whether a faster loader would help, in a short run whose model is thrown away:

       dlbench.probe(loader, train_step)

If a training with several processes (ranks) was cut short, `python3 dlbench.py join DIR` makes
a report of the traces that wrap() left in DIR.
"""

import collections
import datetime
import functools
import json
import math
import multiprocessing
import multiprocessing.util
import os
import platform
import re
import signal
import statistics
import sys
import threading
import time
import traceback
import typing
from collections.abc import Mapping

VERSION = 1
"""Version of the records and traces. dlbench and this file must have the same one."""

GUARD = (
    "the script has no `if __name__ == \"__main__\":` around dlbench.serve(): worker processes that are started "
    "by spawn or forkserver run the script again, and would measure again. Put the call below that line"
)


class Error(Exception):
    """A mistake that the user can correct. The message explains it, so no traceback is printed."""


def clock():
    """Seconds by CLOCK_MONOTONIC, the clock that dlbench reads too."""
    return time.clock_gettime(time.CLOCK_MONOTONIC) if hasattr(time, "clock_gettime") else time.monotonic()


sleep = time.sleep  # tests replace it, and clock


# ---- what is asked for, and what is in a batch ----


class Settings(typing.NamedTuple):
    """What dlbench asks the loader to do. These are the defaults when you run a script by hand.

    To choose other values by hand, set the environment variables named here, such as DLBENCH_PATH.
    """

    path: str = ""  # the folder with the data; DLBENCH_PATH
    batch: int = 32  # images in a batch; DLBENCH_BATCH
    shape: tuple = (225, 225, 3)  # height, width and channels of an image; DLBENCH_SHAPE, 225x225x3
    workers: int = 2  # worker processes or threads, 0 for none; DLBENCH_WORKERS
    seed: int = 1  # DLBENCH_SEED
    epochs: int = 1  # passes over the data within one epoch, so that a small set has few epoch ends; DLBENCH_EPOCHS
    step: float = 0.0  # seconds that a training step takes, 0 for none; DLBENCH_STEP


def settings():
    """Returns the Settings that the environment variables DLBENCH_... hold."""

    def shape(text):
        height, width, channels = map(int, text.lower().split("x"))
        return height, width, channels

    least = {"batch": 1, "workers": 0, "epochs": 1, "step": 0}
    kinds = {"path": str, "shape": shape, "step": float}
    found = {}
    for field in Settings._fields:
        text = os.environ.get("DLBENCH_" + field.upper(), "")
        if text == "":
            continue
        try:
            found[field] = kinds.get(field, int)(text)
            if field in least and not least[field] <= found[field] < math.inf:
                raise ValueError
        except ValueError:
            default = "225x225x3" if field == "shape" else Settings._field_defaults[field]
            raise Error(f"DLBENCH_{field.upper()}={text} is no value for it; one such as {default} is") from None
    return Settings(**found)


def _arrays(batch):
    """The arrays or tensors in a batch, in order."""
    if isinstance(batch, Mapping):
        batch = list(batch.values())
    if isinstance(batch, (list, tuple)):
        for part in batch:
            yield from _arrays(part)
        return
    shape = getattr(batch, "shape", None)
    if shape is not None and not callable(shape) and len(shape) > 0:
        yield batch


def _bytes(array):
    """How many bytes an array has, 0 if it does not say."""
    try:
        size = getattr(array, "nbytes", None)
        if size is None and hasattr(array, "element_size"):  # PyTorch before 2.0
            size = array.element_size() * array.nelement()
        if size is None:
            each = getattr(array.dtype, "itemsize", None) or array.dtype.size  # TensorFlow
            size = math.prod(int(n) for n in array.shape) * each
        return int(size)
    except (AttributeError, TypeError, ValueError):
        return 0


def _count(batch, images=None):
    """How many images and bytes a batch holds.

    The images are the first dimension of the first array, or the length of the first list
    where there are no arrays. A function given as images counts them instead.
    """
    arrays = list(_arrays(batch))
    size = sum(map(_bytes, arrays))
    if images is not None:
        return int(images(batch)), size
    if arrays:
        return int(arrays[0].shape[0]), size
    while isinstance(batch, Mapping) or isinstance(batch, (list, tuple)):
        parts = list(batch.values()) if isinstance(batch, Mapping) else batch
        if not parts or not isinstance(parts[0], (list, tuple, Mapping)):
            return len(parts), size
        batch = parts[0]
    raise Error(
        f"cannot tell how many images a batch of type {type(batch).__name__} holds: "
        "give a function that counts them, such as images=len"
    )


def _shape(batch):
    """Height, width and channels of the images in a batch, [] if they cannot be told, and its numbers' type."""
    array = next(_arrays(batch), None)
    if array is None:
        return [], ""
    dtype = getattr(array, "dtype", "")
    shape = [int(n) for n in array.shape][1:]
    if len(shape) != 3:
        shape = []
    elif shape[0] in (1, 3, 4) and shape[2] not in (1, 3, 4):
        shape = [*shape[1:], shape[0]]
    return shape, getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]


# ---- serve: the loader alone, in a process that dlbench starts ----


def serve(loader, name=None, software=None, pixels=None, images=None):
    """Iterates over the loader, epoch after epoch, until dlbench stops it. Does not return.

    loader is what your training iterates over, or a function that takes Settings and returns
    that. All other arguments are optional:

    name: what reports call the loader.
    software: versions to add to those that are found, such as {"mylib": "1.2"}.
    pixels: how far the pixels are from a reference, in levels of uint8, such as
        {"mean": 0.4, "max": 3, "against": "Pillow 12.0.0"}; or a function that finds it, which is
        called when the first batch has come, so that no time that is measured contains it.
    images: a function that counts the images of a batch. You need it if they are not the first
        dimension of the first array.
    """
    entered = clock()
    _refuse_children()
    fd = os.environ.get("DLBENCH_FD", "")
    out = _Records(fd) if fd else _Terminal()
    try:
        _check_version()
        chosen = settings()
        name = name or os.path.basename(sys.argv[0])
        out.begin(entered, name, {**_software(), **(software or {})})
        _serve(loader, chosen, pixels, images, out)
    except KeyboardInterrupt:
        out.end(0, {"end": clock()})
    except BaseException as problem:  # SystemExit too: a loader that ends the process is a loader that fails
        problem = problem if fd else out.explained(problem)
        if isinstance(problem, Error):
            print(f"dlbench.py: {problem}", file=sys.stderr)
        else:
            traceback.print_exc()
        out.end(1, _describe(problem))


def _serve(loader, chosen, pixels, images, out):
    make = None if hasattr(loader, "__iter__") else loader
    began = clock()
    source = make(chosen) if make else loader
    fresh, epoch = True, 0
    while True:
        batches = 0
        iterator = iter(source)
        if began is not None:
            out.ready(began, clock())
            began = None
        while True:
            enter = clock()
            try:
                batch = next(iterator)
            except StopIteration:
                break
            leave = clock()
            batches += 1
            out.batch(enter, leave, *_count(batch, images))
            if pixels is not None:
                out.pixels(pixels() if callable(pixels) else pixels)
                pixels = None
            if chosen.step:
                sleep(max(0.0, leave + chosen.step - clock()))
        if batches:
            fresh, epoch = False, epoch + 1
            out.epoch(epoch)
        elif fresh:
            raise Error("the loader came to its end without any batch: are there data in its folder?")
        elif make:  # a generator can be gone through once
            source, fresh = make(chosen), True
        else:
            raise Error(
                f"the loader came to its end in epoch {epoch} and gives nothing when it is started again: "
                "give serve() a function that makes the loader"
            )


def _refuse_children():
    """Raises in a worker process that runs the script again, and tells the process that started it."""
    if multiprocessing.current_process().name == "MainProcess":  # parent_process() is not known so early
        return
    serving = os.environ.get("DLBENCH_SERVING")
    if serving:
        os.kill(int(serving), signal.SIGUSR1)
    raise RuntimeError(GUARD)


def _check_version():
    asked = os.environ.get("DLBENCH_PROTOCOL") or str(VERSION)
    if asked != str(VERSION):
        raise Error(
            f"the dlbench program speaks version {asked}, dlbench.py version {VERSION}; "
            "write the file that fits the program: dlbench python > dlbench.py"
        )


def _software():
    """Versions of Python's well-known packages for loading, those that are imported."""
    known = "torch torchvision numpy PIL cv2 tensorflow nvidia.dali webdataset ffcv datasets lightning timm spdl"
    found = {}
    for name in known.split():
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            found[{"PIL": "pillow", "cv2": "opencv", "nvidia.dali": "dali"}.get(name, name)] = str(version)
    return found


class _Records:
    """Sends what happens to dlbench: one JSON object a line, one write a line."""

    def __init__(self, fd):
        self._lock = threading.Lock()
        self._pid = os.getpid()
        try:
            self._fd = int(fd)
            os.set_inheritable(self._fd, False)
        except (ValueError, OSError):
            sys.exit(
                f"dlbench.py: DLBENCH_FD={fd} is no open descriptor: what started this script has closed it. "
                "Have python started directly, or unset DLBENCH_FD to run by hand"
            )
        os.environ["DLBENCH_SERVING"] = str(self._pid)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGUSR1, self._on_refusal)
        threading.Thread(target=self._watch_stdin, daemon=True).start()

    def _watch_stdin(self):
        """Stops when the standard input ends: dlbench closed it, or is gone."""
        try:
            while os.read(0, 4096):
                pass
        except OSError:
            pass
        self.end(0, {"end": clock()})

    def _on_refusal(self, *_):
        """A worker process has run the script again, and refused to measure."""
        if os.getpid() == self._pid:  # a forked worker has this handler too
            # On a thread, since the lock may be held by the code below here.
            threading.Thread(target=self.end, args=(1, {"error": GUARD})).start()

    def _write(self, line):
        try:
            os.write(self._fd, line.encode("ascii"))
        except OSError as problem:
            print(f"dlbench.py: dlbench no longer reads the records: {problem}", file=sys.stderr)
            _leave(1)

    def _record(self, fields):
        with self._lock:
            self._write(json.dumps(fields) + "\n")

    def begin(self, entered, name, software):
        python = platform.python_version()
        hello = {"dlbench": VERSION, "time": entered, "pid": os.getpid(), "python": python}
        self._record({**hello, "loader": name, "software": software})

    def ready(self, began, now):
        self._record({"began": began, "ready": now})

    def pixels(self, difference):
        self._record({"pixels": difference})

    def batch(self, enter, leave, images, size):
        line = '{"enter": %.9f, "leave": %.9f, "images": %d, "bytes": %d}\n' % (enter, leave, images, size)
        with self._lock:
            self._write(line)

    def epoch(self, number):
        self._record({"epoch": number, "time": clock()})

    def end(self, code, last):
        """Writes the last record and ends the process. The lock is kept, so that nothing follows."""
        if self._lock.acquire(timeout=2):  # in vain where the other thread writes to a pipe that nobody reads
            self._write(json.dumps(last) + "\n")
        _leave(code)


class _Terminal:
    """Shows what happens to who runs the script by hand."""

    def __init__(self):
        self._since, self._images, self._waits = None, 0, []

    def begin(self, entered, name, software):
        print(f"{name}: measured by hand, Ctrl-C ends it; {settings()}", flush=True)

    def ready(self, began, now):
        print(f"it took {now - began:.3f} s to start", flush=True)

    def pixels(self, difference):
        print(f"pixels: {difference}", flush=True)

    def batch(self, enter, leave, images, size):
        self._images += images
        self._waits.append(leave - enter)
        if self._since is None:
            print(f"the first batch took {leave - enter:.3f} s", flush=True)
        elif leave - self._since >= 1:
            rate = self._images / (leave - self._since)
            typical, longest = 1e3 * statistics.median(self._waits), 1e3 * max(self._waits)
            print(f"{rate:8.0f} images/s; a batch takes {typical:.1f} ms, at most {longest:.1f} ms", flush=True)
        else:
            return
        self._since, self._images, self._waits = leave, 0, []

    def epoch(self, number):
        print(f"end of epoch {number}", flush=True)

    def explained(self, problem):
        """The problem, or what to do where the loader most likely began without the folder of its data."""
        if self._since is not None or os.environ.get("DLBENCH_PATH") or not isinstance(problem, (OSError, ValueError)):
            return problem
        run = f"dlbench run DIR --loader mine='python3 {os.path.basename(sys.argv[0])}'"
        return Error(f"set DLBENCH_PATH=DIR, or run it with {run} ({_describe(problem)['error']})")

    def end(self, code, last):
        _leave(code)


def _leave(code):
    """Ends the process at once: some loaders' threads hang when Python ends in the usual way."""
    try:
        for child in multiprocessing.active_children():
            child.kill()  # some loaders' workers take seconds to see that they are alone
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception:
        pass
    os._exit(code)


def _describe(problem):
    """The last line of an exception's traceback and, where the exception has it, the file it is about."""
    if isinstance(problem, Error):
        return {"error": str(problem)}
    text = str(problem)
    if "Original Traceback" in text:  # raised in a worker of a DataLoader
        lines = text.rstrip().splitlines()
        code = [i for i, line in enumerate(lines) if line.startswith(" ")]
        error = lines[min(code[-1] + 1, len(lines) - 1)] if code else lines[-1]
    else:
        lines = "".join(traceback.format_exception_only(type(problem), problem)).strip().splitlines()
        error = lines[-1 if isinstance(problem, SyntaxError) else 0]
    last = {"error": error[:1000]}
    name = getattr(problem, "filename", None)
    if name is not None:
        last["file"] = os.fsdecode(name) if isinstance(name, (str, bytes, os.PathLike)) else str(name)
    return last


# ---- clocks: the host's, and that of a CUDA stream ----


class _HostClock:
    """Without CUDA: how long the training thread waits."""

    name = "host"
    floor = 0.0

    def mark(self):
        return clock()

    def done(self, mark):
        return True

    def between(self, first, second):
        return second - first

    def reuse(self, *marks):
        pass


class _StreamClock:
    """On CUDA: events on the current stream, read when the stream has passed them.

    The stream reaches the event of entering next() when it has done its work, and that of
    leaving next() when the host has the batch. What lies between is how long the stream stood
    idle; less the floor, the time between two events back to back. Nothing is synchronised.
    """

    name = "CUDA events"

    def __init__(self, torch):
        self._make = functools.partial(torch.cuda.Event, enable_timing=True)
        self._spare = []
        self._pairs = [(self.mark(), self.mark()) for _ in range(9)]

    @functools.cached_property
    def floor(self):
        return statistics.median(self.between(*pair) for pair in self._pairs)

    def mark(self):
        event = self._spare.pop() if self._spare else self._make()
        event.record()
        return event

    def done(self, mark):
        return mark.query()

    def between(self, first, second):
        return first.elapsed_time(second) / 1e3

    def reuse(self, *marks):
        self._spare.extend(marks)


def _cuda():
    """PyTorch where it uses CUDA by now, else None."""
    torch = sys.modules.get("torch")
    try:
        return torch if torch.cuda.is_initialized() else None
    except AttributeError:
        return None


def _clock():
    torch = _cuda()
    return _StreamClock(torch) if torch else _HostClock()


def _distributed():
    """torch.distributed where it is initialised, else None."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    ready = distributed is not None and distributed.is_available() and distributed.is_initialized()
    return distributed if ready else None


def _ranks():
    """The rank of this process and the number of ranks."""
    distributed = _distributed()
    if distributed:
        return distributed.get_rank(), distributed.get_world_size()
    try:
        rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        return (rank, world) if 0 <= rank < world else (0, 1)
    except (KeyError, ValueError):
        return 0, 1


def _queue(loader):
    """The workers of a loader and its queue depth in batches, as PyTorch's DataLoader says them; None if unknown."""
    workers = getattr(loader, "num_workers", None)
    if not isinstance(workers, int):
        return None, None
    return workers, max(1, workers) * max(1, getattr(loader, "prefetch_factor", None) or 1)


def _block(depth):
    """Batches in a block: one sample each. Less than four queue depths would depend on each other."""
    return 4 * (depth or 8)


# ---- wrap: inside a real training ----


def wrap(loader, out=None, images=None):
    """Returns the loader, and measures each wait for a batch. All else passes through to the loader.

    Use it in the training loop: `for x in dlbench.wrap(loader):`. When the training ends, and
    after some epochs, it prints three lines on the standard error: the images/s that the training
    reached and that its steps need, the share of time spent waiting, and where the report is.
    `dlbench show`, `compare` and `report` read that report.

    All wrapped loops of a process share one report, in the folder out; without out in the folder
    that DLBENCH_OUT names; without both in dlbench-out/wrap-TIME. Do not wrap the validation
    loop, or give it another folder. With several ranks, each writes a trace into the folder, which
    all ranks must reach. The last to finish joins the traces by step number. Ranks exchange
    gradients in each step, so the longest stall of any rank counts. images: see serve.

    wrap cannot see batches that the loader copies on CUDA streams of its own, nor CPU time that
    workers take from the training thread. probe() sees both.
    """
    return _Wrapped(loader, out, images)


class _Wrapped:
    def __init__(self, loader, out, images):
        self.__dict__.update(_loader=loader, _out=out, _images=images)

    def __getattr__(self, name):
        return getattr(self.__dict__["_loader"], name)

    def __setattr__(self, name, value):
        setattr(self._loader, name, value)

    def __len__(self):
        return len(self._loader)

    def __bool__(self):
        return bool(self._loader)

    def __iter__(self):
        trace = _trace(self._out)
        trace.enter(self._loader)
        try:
            iterator = iter(self._loader)
            while True:
                try:
                    batch = next(iterator)
                except StopIteration:
                    return
                trace.leave(batch, self._images)
                yield batch
                trace.enter(self._loader)
        finally:
            trace.finish_epoch()


_traces = {}  # of this process, by folder


def _trace(out):
    """The trace of this process in the folder out, or in the default one."""
    folder = os.path.abspath(out or os.environ.get("DLBENCH_OUT") or _default_folder())
    if folder not in _traces:
        trace = _traces[folder] = _Trace(folder)
        try:  # other ranks must not take the trace of an earlier training for this one's
            os.unlink(_trace_path(folder, trace.rank))
        except OSError:
            pass
        # Unlike atexit this also works in processes of multiprocessing, as torch's spawn makes them.
        multiprocessing.util.Finalize(None, trace.finish, exitpriority=100)
    return _traces[folder]


@functools.lru_cache(None)
def _default_folder():
    return _new_folder("wrap")


def _new_folder(what):
    """A folder's name that is the same on all ranks, and else new."""
    job = [os.environ.get(n) for n in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "TORCHELASTIC_RUN_ID")]
    step = os.environ.get("SLURM_STEP_ID", "")
    name = next((j for j in job if j and j != "none"), None)
    if _ranks()[1] == 1:
        name = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ") + f"-{os.getpid()}"
    elif name is None:
        name = f"parent{os.getppid()}"  # the launcher that started all ranks of this machine
    elif step:
        name += "." + step
    return os.path.join("dlbench-out", f"{what}-{name}")


def _harmless(method):
    """A method of a trace that never stops the training: what fails is told once, and measuring ends."""

    @functools.wraps(method)
    def wrapped(self, *args):
        if self.off or os.getpid() != self.pid:
            return None
        try:
            return method(self, *args)
        except Exception as problem:
            self.off = True
            print(f"dlbench: no longer measures this training: {_describe(problem)['error']}", file=sys.stderr)
            return None

    return wrapped


class _Trace:
    """What each step of this rank took, and how long of it the step waited for its batch.

    A step begins when next() is entered and ends when it is entered again. After a header the
    file has a row a step: [epoch, step, s since the start, s of the step, s of its stall,
    images]; the row [N] says that N epochs are complete.
    """

    END = 1 << 30  # more epochs than there are: the process is at its end

    def __init__(self, folder):
        self.off, self.pid, self.folder = False, os.getpid(), folder
        self.rank, self.world = _ranks()
        self.restart(_HostClock())

    def restart(self, by):
        self.by, self.began, self.started = by, clock(), _now()
        self.epoch = self.step = 0
        self.current = None  # the step that runs: its marks of entering and leaving next(), its images
        self.pending = collections.deque()  # steps that the stream may not have done yet, and ends of epochs
        self.header, self.rows, self.written = None, [], False
        self.flushed = self.began
        self.done = self.told = 0  # steps that are rows, and how many of them when it was told last

    @_harmless
    def enter(self, loader):
        if _cuda() and self.by.name == _HostClock.name:  # the training has just begun to use CUDA
            self.restart(_StreamClock(_cuda()))
        mark = self.by.mark()
        if self.current:
            self.pending.append((self.epoch, self.step, clock() - self.began, *self.current, mark))
            self.step += 1
        self.current = [mark, None, 0]
        self.queue = _queue(loader)
        self.read()

    @_harmless
    def leave(self, batch, images):
        self.current[1:] = self.by.mark(), _count(batch, images)[0]
        if self.header is None:
            self.header = self.describe(batch)

    @_harmless
    def finish_epoch(self):
        self.current = None  # of a loop that was left early nobody knows how long its last step took
        self.epoch, self.step = self.epoch + 1, 0
        self.pending.append(self.epoch)
        self.read()

    @_harmless
    def finish(self):
        """At the end of the process: waits a little for the stream's last steps, then tells."""
        self.current = None
        give_up = clock() + 5
        self.read()
        while self.pending and clock() < give_up:
            sleep(0.001)
            self.read()
        if self.done > self.told:
            self.report(self.END)
        self.off = True

    def read(self):
        """Turns what the stream has done into rows."""
        while self.pending:
            if isinstance(self.pending[0], int):
                self.report(self.pending.popleft())
                continue
            epoch, step, at, enter, leave, images, after = self.pending[0]
            if not self.by.done(after):
                break
            self.pending.popleft()
            stall = max(0.0, self.by.between(enter, leave) - self.by.floor)
            times = (round(t, 9) for t in (at, self.by.between(enter, after), stall))
            self.rows.append([epoch, step, *times, images])
            self.done += 1
            self.by.reuse(enter, leave)
        if clock() - self.flushed > 10:
            self.flush()

    def describe(self, batch):
        (workers, depth), (shape, dtype) = self.queue, _shape(batch)
        who = {"dlbench": VERSION, "rank": self.rank, "ranks": self.world, "started": self.started}
        how = {"clock": self.by.name, "workers": workers, "depth": depth, "software": _software()}
        return {**who, **how, "batch": self.current[2], "shape": shape, "dtype": dtype}

    def flush(self):
        """Appends to the file, and closes it, so that other machines see it."""
        self.flushed = clock()
        if self.header is None:
            return
        rows = self.rows if self.written else [self.header, *self.rows]
        os.makedirs(self.folder, exist_ok=True)
        with open(_trace_path(self.folder, self.rank), "a" if self.written else "w", encoding="ascii") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        self.rows, self.written = [], True

    def report(self, epochs):
        """Marks epochs as complete; the rank that is the last to do so joins the traces, and tells.

        That is after the first epoch, after each that has doubled the number of steps, and at
        the end: seldom enough that its cost does not count.
        """
        self.rows.append([epochs])
        self.flush()
        if not self.written or epochs != self.END and self.done < 2 * self.told:
            return
        self.told = self.done
        if self.world == 1 or self.complete(epochs) and self.claim(epochs):
            print("\n".join(join(self.folder)), file=sys.stderr, flush=True)

    def complete(self, epochs):
        """Whether all ranks have come so far."""
        for rank in range(self.world):
            try:
                with open(_trace_path(self.folder, rank), "rb") as file:
                    file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
                    row = json.loads(file.read().split(b"\n")[-2])
            except (OSError, ValueError, IndexError):
                return False
            if isinstance(row, dict) or row[0] < epochs:
                return False
        return True

    def claim(self, epochs):
        """Whether this rank is to join: several may see at once that all are complete."""
        with open(_trace_path(self.folder, 0), encoding="ascii") as file:
            started = re.sub(r"\W", "", json.loads(file.readline())["started"])
        name = f".joined-{started}-{epochs}"
        try:
            os.close(os.open(os.path.join(self.folder, name), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            return False
        for old in os.listdir(self.folder):  # all ranks have been past those of earlier epochs
            if old.startswith(".joined-") and old != name:
                os.unlink(os.path.join(self.folder, old))
        return True


def _trace_path(folder, rank):
    return os.path.join(folder, f"dlbench-trace-{rank}.jsonl")


def _read_trace(path):
    """The header and the steps of a trace, up to a line that was cut off."""
    with open(path, encoding="ascii") as file:
        lines = file.read().split("\n")[:-1]
    header = json.loads(lines[0]) if lines else {}
    if not isinstance(header, dict) or header.get("dlbench") != VERSION:
        raise Error(f"{path}: no trace of version {VERSION} of dlbench.py")
    return header, [row for row in map(json.loads, lines[1:]) if len(row) == 6]


def join(folder):
    """Joins the traces in a folder by step number into report.json, and returns three lines about it.

    The time of a step is the average over its ranks. Its stall is the longest of any rank, since
    all others wait for that rank when they exchange gradients.
    """
    header, rows = _read_trace(_trace_path(folder, 0))
    others = filter(os.path.exists, (_trace_path(folder, rank) for rank in range(1, header["ranks"])))
    traces = [{(row[0], row[1]): row for row in rows} for rows in (rows, *(_read_trace(path)[1] for path in others))]
    warnings = []
    if len(traces) < header["ranks"]:
        warnings.append(f"traces of {len(traces)} of {header['ranks']} ranks only")
    steps, epochs = [], []
    for key in traces[0]:  # epoch and number of a step
        if all(key in trace for trace in traces):
            _, _, at, spent, stall, images = zip(*(trace[key] for trace in traces))
            steps.append((max(at), statistics.fmean(spent), max(stall), sum(images)))
            epochs.append(key[0])
    if not steps:
        raise Error(f"{folder}: the traces have no step in common")
    firsts = [step[2] for i, step in enumerate(steps) if i == 0 or epochs[i] != epochs[i - 1]]
    steps = steps[1:] or steps  # the first of all waits for workers to start, once in a training
    count = max(1, min(1000, len(steps) // _block(header["depth"])))
    samples = collections.defaultdict(list)
    for i in range(count):
        ats, times, stalls, images = zip(*steps[len(steps) * i // count : len(steps) * (i + 1) // count])
        spent, stalled, done, n = sum(times), sum(stalls), sum(images), len(times)
        samples["throughput"].append((done / spent, done, ats[-1]))
        samples["stall"].append((stalled / n, n, ats[-1]))
        samples["stalled"].append((stalled / spent, n, ats[-1]))
        if spent > stalled:
            samples["need"].append((done / (spent - stalled), done, ats[-1]))
    reached = _metric("throughput", "1/s", "higher", samples["throughput"])
    need = _metric("need", "1/s", "higher", samples["need"])
    stall = _metric("stall", "s", "lower", samples["stall"])
    share = _metric("stalled", "1", "lower", samples["stalled"])
    first = _metric("first", "s", "lower", [(s, 1, 0) for s in firsts])
    if "lo" not in share:
        warnings.append("too short for a range")
    if not samples["need"]:
        warnings.append("the steps take no time of their own: what they need is unknown")
    proof = {"clock": header["clock"], "ranks": len(traces), "steps": len(steps), "software": header["software"]}
    path = os.path.join(folder, "report.json")
    _save(path, "wrap", header, [reached, need, stall, share, first], proof, warnings)

    with_firsts = sum(step[2] for step in steps) / sum(step[1] for step in steps)
    more = f"; {100 * with_firsts:.0f} % with the first batches of epochs"
    more = more if with_firsts > _bounds(share)[1] + 0.01 else ""
    unsure = f" ({warnings[0]})" if warnings else ""
    needs = f"its steps need {_range(need)}" if samples["need"] else "what its steps need is unknown"
    return [
        f"dlbench: the training reached {_range(reached)}; {needs}",
        f"dlbench: it waited for data for {_range(share, '%', 100)} of the time{more}{unsure}",
        f"dlbench: report {path}; not seen: copies on streams of the loader's own, workers that take CPU time from it",
    ]


# ---- statistics and reports, as dlbench has them ----


def _metric(name, unit, better, samples):
    """A metric of a report with its median and the interval of that, of samples (value, n, s since the start)."""
    listed = [{"value": v, "n": n, "t": round(t, 6)} for v, n, t in samples]
    metric = {"name": name, "unit": unit, "better": better, "samples": listed}
    values = sorted(sample["value"] for sample in listed)
    if not values:
        return {**metric, "median": 0, "min": 0, "max": 0, "mad": 0, "reason": "no samples"}
    median = statistics.median(values)
    mad = statistics.median(abs(v - median) for v in values)
    metric.update(median=median, min=values[0], max=values[-1], mad=mad)
    interval = _interval(values, _independent([v for v, _, _ in samples]))
    if interval:
        metric.update(lo=interval[0], hi=interval[1], confidence=0.95)
    else:
        metric["reason"] = "fewer than 6 independent samples: minimum and maximum instead"
    return metric


def _interval(values, independent):
    """The 95 % interval of the median of sorted values that are worth so many independent ones; None below 6.

    It runs from one value to another, by the binomial distribution of how many lie below the
    median, and so assumes no distribution of the values.
    """
    m = int(independent)
    if m < 6:
        return None

    def chance(k):
        return math.comb(m, k) / 2**m if k >= 0 else 0

    lo = (m + 2) // 2 - 1
    hi, covered = lo + 1, chance(lo)
    while covered < 0.95:
        if chance(lo - 1) >= chance(hi):
            lo -= 1
            covered += chance(lo)
        else:
            covered += chance(hi)
            hi += 1
    scale = (len(values) + 1) / (m + 1)
    return values[max(math.floor(lo * scale), 1) - 1], values[min(math.ceil(hi * scale), len(values)) - 1]


def _independent(values):
    """How many independent values these are worth, by the lag-1 autocorrelation of their ranks."""
    n, ordered = len(values), sorted(values)
    first = {v: n - 1 - i for i, v in enumerate(reversed(ordered))}
    last = {v: i for i, v in enumerate(ordered)}
    ranks = [(first[v] + last[v]) / 2 - (n - 1) / 2 for v in values]
    variance = sum(r * r for r in ranks)
    if not variance:
        return n
    r = min(1, sum(a * b for a, b in zip(ranks, ranks[1:])) / variance)
    return n if r <= 0 else n * (1 - r) / (1 + r)


def _bounds(metric):
    return metric.get("lo", metric["min"]), metric.get("hi", metric["max"])


def _range(metric, unit="images/s", scale=1):
    """A metric for people, with as many digits as its interval supports: 575 images/s (570 to 580)."""
    lo, hi = _bounds(metric)
    middle, lo, hi = metric["median"] * scale, lo * scale, hi * scale
    digits = 2 - math.floor(math.log10(hi)) if hi > 0 else 0
    if hi > lo:
        digits = min(digits, -math.floor(math.log10((hi - lo) / 2)))
    middle, lo, hi = (f"{round(x, digits):.{max(0, digits)}f}" for x in (middle, lo, hi))
    return f"{middle} {unit}" if lo == hi or "lo" not in metric else f"{middle} {unit} ({lo} to {hi})"


def _now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _save(path, loader, header, metrics, proof, warnings):
    """Writes a report that dlbench reads, whole or not at all. header is that of a trace."""
    workers = header["workers"] or 0  # unknown ones are none that can be told
    params = {"loader": loader, "workers": workers, "batch": header["batch"], "step": "0s", "step-cpu": 0}
    result = {"suite": "external", "name": f"external/loader={loader}", "params": params, "status": "ok"}
    config = {"suites": ["external"], "batch": header["batch"], "shape": header["shape"], "dtype": header["dtype"]}
    report = {
        "schema_version": 1,
        "status": "complete",
        "tool": {"name": "dlbench.py", "version": str(VERSION), "go": ""},
        "started": header["started"],
        "finished": _now(),
        "config": {**config, "seed": 0},
        "software": {},
        "host": _host(),
        "results": [{**result, "metrics": metrics, "proof": proof, "warnings": warnings}],
    }
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(report, file, indent="\t", allow_nan=False)
        file.write("\n")
    os.replace(temporary, path)


def _host():
    """This machine as far as Python knows it, in the words of dlbench."""
    machine = platform.machine().lower()
    threads = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else threads
    cpu = {"model": "", "threads": threads, "affinity": usable, "usable": usable}
    host = {"os": platform.system().lower(), "arch": {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)}
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            cpu["model"] = re.search(r"^model name\s*: (.*)$", file.read(), re.M)[1]
    except (OSError, TypeError):
        cpu["model"] = platform.processor()
    memory = {"total": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")}
    host.update(kernel=platform.release(), cpu=cpu, memory=memory)
    torch = _cuda()
    if torch:
        devices = map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))
        host["gpus"] = [{"name": d.name, "memory": d.total_memory, "link": {"state": "unknown"}} for d in devices]
    return host


# ---- probe: would a faster loader help? ----


def probe(loader, step, seconds=10.0, out=None, images=None):
    """Runs the loader alone, the step alone and both together, and says whether a faster loader would help.

    step is your function that copies one batch to the GPU and trains on it. probe calls it many
    times with the same batch, so throw the model away afterwards. probe saves only a report, in
    the folder out, or in dlbench-out/probe-TIME.

    It runs six phases: loader, step, both, both, step, loader. This order treats all alike on a
    machine that slows down. Each phase takes at least `seconds`, after a warm-up of two queue
    depths of batches and short tries that tell how many steps these are. CUDA is synchronised
    only when a phase or a try begins and ends. With several ranks all must call probe: that is
    also when they agree on the number of steps, by all_reduce. images: see serve.
    """
    (workers, depth), (rank, world) = _queue(loader), _ranks()
    batches = _endless(loader)
    cached = next(batches)
    shape, dtype = _shape(cached)
    header = {"started": _now(), "workers": workers, "batch": _count(cached, images)[0], "shape": shape, "dtype": dtype}

    def once(phase):
        batch = cached if phase == "need" else next(batches)
        if phase != "feeds":
            step(batch)
        return _count(batch, images)[0]

    def say(*lines):
        if rank == 0:
            print(*(f"dlbench: {line}" for line in lines), sep="\n", flush=True)

    say(f"six phases of {seconds:g} s or more; throw away the model that they train, nothing of it is saved")
    began, rates = clock(), collections.defaultdict(list)
    for phase in ("feeds", "need", "throughput", "throughput", "need", "feeds"):
        blocks = _phase(functools.partial(once, phase), depth or 8, seconds)
        rates[phase] += [(done / spent, done, clock() - began) for done, spent in blocks]
    feeds, need, both = (_metric(phase, "1/s", "higher", rates[phase]) for phase in ("feeds", "need", "throughput"))
    answer, warnings = _answer(feeds, need, both, workers), []
    if any("lo" not in metric for metric in (feeds, need, both)):
        warnings.append("too short for a range: make the phases longer")
    say(
        f"the loader alone feeds {_range(feeds)}",
        f"the step alone takes {_range(need)}",
        f"both together reach {_range(both)}",
        answer,
    )
    if rank == 0:
        path = os.path.join(out or _new_folder("probe"), "report.json")
        proof = {"clock": _clock().name, "ranks": world, "answer": answer, "software": _software()}
        _save(path, "probe", header, [both, feeds, need], proof, warnings)
        say("; ".join([f"report {path}", *warnings]))


def _endless(loader):
    """Batches of one epoch after the other."""
    while True:
        batch = None
        for batch in loader:
            yield batch
        if batch is None:
            raise Error("the loader came to its end and gives nothing when it is started again")


def _phase(once, depth, seconds):
    """Calls once, which returns a number of images, for so long; returns images and seconds of each block.

    Short tries, of which the first is a block, tell how many fill the time; all ranks take as many,
    and exchange nothing meanwhile.
    """
    blocks, least = 1, 3
    while True:
        images, times = _stretch(once, depth, blocks)
        spent = _over_ranks("MAX", [sum(times) + 1e-9])[0]
        if blocks >= least and spent >= seconds:
            return list(zip(_over_ranks("SUM", images), _over_ranks("MAX", times)))
        blocks = max(least, math.ceil(blocks * min(1.1 * seconds / spent, 10)))


def _stretch(once, depth, blocks):
    """Images and seconds of each of so many blocks, after a warm-up."""
    for _ in range(2 * depth):
        once()
    _synchronise()
    by, images = _clock(), []
    marks = [by.mark()]
    for _ in range(blocks):
        images.append(sum(once() for _ in range(_block(depth))))
        marks.append(by.mark())
    _synchronise()
    return images, [by.between(first, second) for first, second in zip(marks, marks[1:])]


def _synchronise():
    torch = _cuda()
    if torch:
        torch.cuda.synchronize()


def _over_ranks(how, values):
    """The sums or maxima of numbers over all ranks."""
    distributed = _distributed()
    if not distributed:
        return values
    torch = sys.modules["torch"]
    device = "cuda" if distributed.get_backend() == "nccl" else "cpu"
    numbers = torch.tensor(values, dtype=torch.float64, device=device)
    distributed.all_reduce(numbers, op=getattr(distributed.ReduceOp, how))
    return numbers.tolist()


def _answer(feeds, need, both, workers):
    """Whether a faster loader would help: yes, no or too close to call. Less than 2 % counts as nothing."""
    (low, high), (least, most) = _bounds(need), _bounds(both)
    gain = f"x{need['median'] / both['median']:.2f}; {low / most:.2f} to {high / least:.2f}"
    if high / least < 1.02:
        return f"no: the step is the limit, a faster loader would not help ({gain})"
    if low / most < 1.02:
        return f"too close to call: a faster loader would bring {gain}"
    now, most = (_range(metric).partition(" (")[0] for metric in (both, need))
    answer = f"yes: a faster loader would raise {now} to at most {most} ({gain})"
    if _bounds(feeds)[0] > high:
        missing = "they take turns: give the loader workers" if workers == 0 else "look for CPU time that both want"
        answer += f"; alone it feeds enough, so {missing}"
    return answer


def main(arguments):
    if len(arguments) != 2 or arguments[0] != "join":
        print(__doc__)
        return
    try:
        print("\n".join(join(arguments[1])))
    except (Error, OSError) as problem:
        sys.exit(f"dlbench.py: {problem}")


if __name__ == "__main__":
    main(sys.argv[1:])
