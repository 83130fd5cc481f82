"""Tests of dlbench.py: python3 dlbench_test.py. Time is simulated, but for that of processes."""

import contextlib
import glob
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
from unittest import mock

import dlbench

HERE = os.path.dirname(os.path.abspath(__file__))


class Array:
    """What an array, a tensor of PyTorch or of TensorFlow shows of itself."""

    def __init__(self, *shape, **more):
        self.shape = shape
        self.__dict__.update(more)


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now = 100.0

    def sleep(self, seconds):
        self.now += seconds


class Timed(unittest.TestCase):
    """Tests in simulated time, with a folder for reports."""

    def setUp(self):
        self.clock = Clock()
        self.folder = self.enter(tempfile.TemporaryDirectory())
        self.enter(mock.patch.object(dlbench, "clock", lambda: self.clock.now))
        self.enter(mock.patch.object(dlbench, "sleep", self.clock.sleep))
        self.enter(mock.patch.dict(dlbench._traces, clear=True))
        self.enter(mock.patch.dict(os.environ))
        self.err = self.enter(contextlib.redirect_stderr(io.StringIO()))
        self.out = self.enter(contextlib.redirect_stdout(io.StringIO()))

    def enter(self, context):
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value

    def enqueue(self, stream, seconds):
        """A step on the GPU: the host goes on at once, but never more than 0.1 s ahead."""

        def step(batch):
            stream.run(seconds)
            self.clock.now = max(self.clock.now, stream.free - 0.1)

        return step

    def result(self, folder=None):
        with open(os.path.join(folder or self.folder, "report.json"), encoding="utf-8") as file:
            return json.load(file)["results"][0]

    def metric(self, name, folder=None):
        return next(m for m in self.result(folder)["metrics"] if m["name"] == name)


class Loader:
    """Batches of 32 images, each made in so many seconds by a worker that is up to depth batches ahead."""

    def __init__(self, clock, each, batches=100, depth=0, images=32):
        self.clock, self.each, self.batches, self.depth, self.images = clock, each, batches, depth, images
        self.num_workers, self.prefetch_factor = (1, depth) if depth else (0, None)
        self.mixup = True

    def __len__(self):
        return self.batches

    def __iter__(self):
        began, taken = self.clock.now, []
        ready = began
        for i in range(self.batches):
            if not self.depth:
                self.clock.sleep(self.each)
            else:  # the worker begins a batch when it is done with the one before and has a free slot
                slot = taken[i - self.depth] if i >= self.depth else began
                ready = max(ready, slot) + self.each
                self.clock.now = max(self.clock.now, ready)
                taken.append(self.clock.now)
            yield {"images": Array(self.images, 3, 224, 224, dtype="torch.float32"), "labels": Array(self.images)}


class Stream:
    """A CUDA stream, and PyTorch as far as it is used: each event takes the stream 2 us."""

    def __init__(self, clock):
        self.clock, self.free = clock, 0.0
        stream = self

        class Event:
            def __init__(self, enable_timing):
                assert enable_timing

            def record(self):
                stream.run(2e-6)
                self.time = stream.free

            def query(self):
                return self.time <= clock.now

            def elapsed_time(self, later):
                assert self.query() and later.query(), "read before the stream has passed it"
                return 1e3 * (later.time - self.time)

        device = types.SimpleNamespace(name="Fake", total_memory=1 << 30)
        self.torch = types.SimpleNamespace(
            cuda=types.SimpleNamespace(
                Event=Event,
                is_initialized=lambda: True,
                synchronize=self.synchronize,
                device_count=lambda: 1,
                get_device_properties=lambda i: device,
            )
        )
        self.synchronized = 0

    def run(self, seconds):
        self.free = max(self.clock.now, self.free) + seconds

    def synchronize(self):
        self.synchronized += 1
        self.clock.now = max(self.clock.now, self.free)


class CountTest(unittest.TestCase):
    def test_batches(self):
        numpy = Array(8, 4, nbytes=64)
        old = Array(8, 2, element_size=lambda: 4, nelement=lambda: 16)
        tensorflow = Array(8, 2, dtype=types.SimpleNamespace(size=4))
        for batch, want in [
            (numpy, (8, 64)),
            ((numpy, Array(8, nbytes=32)), (8, 96)),
            ([numpy, [1, 2]], (8, 64)),
            ({"label": 3, "image": numpy}, (8, 64)),
            ([{"data": old}], (8, 64)),
            (tensorflow, (8, 64)),
            (Array(5), (5, 0)),
            (Array(0, 3, nbytes=0), (0, 0)),
            (["a.jpg", "b.jpg", "c.jpg"], (3, 0)),
            ((["a", "b"], [0, 1]), (2, 0)),
            ([], (0, 0)),
        ]:
            with self.subTest(batch=batch):
                self.assertEqual(dlbench._count(batch), want)
        self.assertEqual(dlbench._count([numpy] * 3, images=len), (3, 192))
        with self.assertRaisesRegex(dlbench.Error, "type object .* images=len"):
            dlbench._count(object())

    def test_shape(self):
        self.assertEqual(dlbench._shape((Array(8, 3, 200, 300, dtype="torch.float16"),)), ([200, 300, 3], "float16"))
        named = types.SimpleNamespace(name="uint8")
        self.assertEqual(dlbench._shape(Array(8, 200, 300, 1, dtype=named)), ([200, 300, 1], "uint8"))
        self.assertEqual(dlbench._shape(["text"]), ([], ""))

    def test_settings(self):
        with mock.patch.dict(os.environ, DLBENCH_PATH="/d", DLBENCH_SHAPE="8x9X3", DLBENCH_STEP="0.216"):
            self.assertEqual(dlbench.settings(), ("/d", 32, (8, 9, 3), 2, 1, 1, 0.216))
        for name, bad in [("BATCH", "0"), ("SHAPE", "8x9"), ("WORKERS", "-1"), ("STEP", "inf"), ("SEED", "x")]:
            with mock.patch.dict(os.environ, {"DLBENCH_" + name: bad}):
                with self.assertRaisesRegex(dlbench.Error, f"DLBENCH_{name}={bad} is no value"):
                    dlbench.settings()


class DescribeTest(unittest.TestCase):
    def test_errors(self):
        worker = (
            "Caught UnidentifiedImageError in DataLoader worker process 0.\n"
            "Original Traceback (most recent call last):\n"
            '  File "/lib/fetch.py", line 51, in fetch\n    data = [self.dataset[i] for i in index]\n'
            "PIL.UnidentifiedImageError: cannot identify image file <_io.BufferedReader name='/d/a b.jpg'>\n"
        )
        for problem, error, file in [
            (ValueError("broken"), "ValueError: broken", None),
            (ValueError("bad size\nof x"), "ValueError: bad size", None),
            (RuntimeError(worker), worker.splitlines()[-1], None),
            (FileNotFoundError(2, "No such file", "x/y.jpg"), "FileNotFoundError: [Errno 2] No such file: 'x/y.jpg'",
             "x/y.jpg"),
            (OSError(5, "bad disk", b"x/\xff.jpg"), "OSError: [Errno 5] bad disk: b'x/\\xff.jpg'", "x/\udcff.jpg"),
            (SyntaxError("never closed", ("m.py", 1, 2, "(")), "SyntaxError: never closed", "m.py"),
            (dlbench.Error("mend it"), "mend it", None),
            (SystemExit(3), "SystemExit: 3", None),
        ]:
            with self.subTest(error=error):
                want = {"error": error} if file is None else {"error": error, "file": file}
                self.assertEqual(dlbench._describe(problem), want)


class ServeTest(unittest.TestCase):
    """serve() in a process, over real pipes."""

    def serve(self, script, batches=None, stop="stdin", **env):
        """The records of a script, stopped after so many batches, with its exit code and output."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("import dlbench\n" + textwrap.dedent(script))
            reading, writing = os.pipe()
            env = {**os.environ, "PYTHONPATH": HERE, "DLBENCH_FD": str(writing), "DLBENCH_PROTOCOL": "1", **env}
            with tempfile.TemporaryFile("w+") as log, subprocess.Popen(
                [sys.executable, path], stdin=subprocess.PIPE, stdout=log, stderr=log, env=env, pass_fds=[writing]
            ) as process:
                os.close(writing)
                records, seen = [], 0
                with open(reading, encoding="ascii") as file:
                    for line in file:
                        records.append(json.loads(line))
                        seen += "enter" in records[-1]
                        if seen == batches:
                            if stop == "stdin":
                                process.stdin.close()
                            else:
                                process.send_signal(stop)
                            batches = -1
                code = process.wait()
                log.seek(0)
                return records, code, log.read()

    def test_until_stdin_ends(self):
        records, code, log = self.serve(
            """
            class Array:
                shape, nbytes = (4, 3), 48
            def make(settings):
                print("a line on stdout")
                for i in range(settings.batch):
                    yield {"image": Array(), "path": ["x"]}
            if __name__ == "__main__":
                dlbench.serve(make, name="mine", software={"it": "2"}, pixels={"mean": 0.5, "max": 3, "against": "P"})
            """,
            batches=8,
            DLBENCH_BATCH="3",
        )
        self.assertEqual(code, 0, log)
        first = records[0]
        self.assertEqual((first["dlbench"], first["loader"], first["software"]["it"]), (1, "mine", "2"))
        self.assertEqual(first["python"], ".".join(map(str, sys.version_info[:3])))
        self.assertLess(first["time"], records[1]["began"])
        self.assertLess(records[1]["began"], records[1]["ready"])
        self.assertLess(records[1]["ready"], records[2]["enter"])
        self.assertEqual(records.pop(3), {"pixels": {"mean": 0.5, "max": 3, "against": "P"}})
        kinds = ["epoch" if "epoch" in r else "batch" for r in records[2:10]]
        self.assertEqual(kinds, ["batch"] * 3 + ["epoch"] + ["batch"] * 3 + ["epoch"])
        batches = [r for r in records if "enter" in r]
        self.assertEqual({(r["images"], r["bytes"]) for r in batches}, {(4, 48)})
        times = [first["time"]] + [t for r in batches for t in (r["enter"], r["leave"])]
        self.assertEqual(times, sorted(times))
        self.assertEqual(list(records[-1]), ["end"])
        self.assertIn("a line on stdout", log)

    def test_stop_while_loading(self):
        script = """
            import time
            class Never:
                def __iter__(self):
                    yield [1, 2]
                    while True:
                        time.sleep(0.01)
            if __name__ == "__main__":
                dlbench.serve(Never())
            """
        for stop, left, want in ("stdin", 0, 4), (signal.SIGTERM, -signal.SIGTERM, 3):
            records, code, log = self.serve(script, batches=1, stop=stop)
            self.assertEqual((code, "end" in records[-1], len(records)), (left, stop == "stdin", want), log)

    def test_step(self):
        records, _, log = self.serve("dlbench.serve([[1, 2]] * 100)", batches=6, DLBENCH_STEP="0.02")
        batches = [r for r in records if "enter" in r]
        for before, after in zip(batches, batches[1:]):
            self.assertGreaterEqual(after["enter"] - before["leave"], 0.0199, log)

    def test_errors(self):
        for script, error, file in [
            ("def make(s):\n yield [1]\n open('x/y.jpg')\ndlbench.serve(make)",
             "FileNotFoundError: [Errno 2] No such file or directory: 'x/y.jpg'", "x/y.jpg"),
            ("dlbench.serve([])", "the loader came to its end without any batch: are there data in its folder?", None),
            ("dlbench.serve(x for x in [[1]])", "the loader came to its end in epoch 1 and gives nothing when it is "
             "started again: give serve() a function that makes the loader", None),
            ("dlbench.serve([object()])", "cannot tell how many images a batch of type object holds: give a function "
             "that counts them, such as images=len", None),
            ("dlbench.serve(7)", "TypeError: 'int' object is not callable", None),
            ("import sys\ndlbench.serve(lambda s: sys.exit(3))", "SystemExit: 3", None),
        ]:
            with self.subTest(script=script):
                records, code, log = self.serve(script)
                self.assertEqual((code, records[-1]), (1, {"error": error, **({"file": file} if file else {})}), log)
                self.assertEqual("Traceback" in log, ": " in error and "Error" in error or "Exit" in error, log)

    def test_zero_images_are_told(self):
        records, _, _ = self.serve("dlbench.serve([[]] * 3)", batches=3)
        self.assertEqual([r["images"] for r in records if "enter" in r][:3], [0, 0, 0])

    def test_no_guard(self):
        records, code, log = self.serve(
            """
            import multiprocessing
            def make(settings):
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    yield pool.map(len, [[1]])
            dlbench.serve(make)
            """
        )
        self.assertEqual((code, records[-1]), (1, {"error": dlbench.GUARD}), log)
        worker = types.SimpleNamespace(name="SpawnPoolWorker-1")
        with mock.patch("multiprocessing.current_process", return_value=worker):
            with self.assertRaisesRegex(RuntimeError, "the script has no `if __name__"):
                dlbench.serve([])

    def test_forked_workers_end(self):
        records, code, log = self.serve(
            """
            import multiprocessing, time
            def work(n):
                time.sleep(n)
                return [n]
            def make(settings):
                pool = multiprocessing.get_context("fork").Pool(1)
                yield pool.apply(work, [0])
                pool.terminate()  # by SIGTERM, of which the worker makes no record
                multiprocessing.get_context("fork").Process(target=work, args=[60]).start()
                yield [0]
                work(60)
            dlbench.serve(make)
            """,
            batches=2,
        )  # returns when the last process that could write records has ended
        self.assertEqual((code, ["end" in r for r in records]), (0, [False] * 4 + [True]), log)

    def test_versions(self):
        for version in "0", "2", "x":
            message = (
                f"the dlbench program speaks version {version}, dlbench.py version 1; "
                "write the file that fits the program: dlbench python > dlbench.py"
            )
            records, code, log = self.serve("dlbench.serve([[1]])", DLBENCH_PROTOCOL=version)
            self.assertEqual((code, records), (1, [{"error": message}]), log)

    def test_descriptor_closed(self):
        _, code, log = self.serve("dlbench.serve([[1]])", DLBENCH_FD="77")
        self.assertEqual(code, 1)
        self.assertIn("DLBENCH_FD=77 is no open descriptor", log)


class AdapterTest(unittest.TestCase):
    """Adapters over packages that are made up."""

    def adapter(self, name, modules, versions, **env):
        """The records of an adapter, its exit code and its output. The data are in the folder self.folder/data."""
        for module, text in modules.items():
            path = os.path.join(self.folder, *module.split("."))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path + ".py", "w", encoding="ascii") as file:
                file.write(textwrap.dedent(text))
        for package, version in versions.items():
            path = os.path.join(self.folder, f"{package.replace('-', '_')}-{version}.dist-info")
            os.makedirs(path, exist_ok=True)
            with open(os.path.join(path, "METADATA"), "w", encoding="ascii") as file:
                file.write(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        reading, writing = os.pipe()
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([self.folder, HERE]),
            "DLBENCH_FD": str(writing),
            "DLBENCH_PATH": os.path.join(self.folder, "data"),
            "DLBENCH_CACHE": os.path.join(self.folder, "cache"),
            **env,
        }
        command = [sys.executable, "-S", os.path.join(HERE, f"adapter_{name}.py")]  # -S: no packages of this machine
        stdin, open_until_it_ends = os.pipe()
        done = subprocess.run(command, stdin=stdin, capture_output=True, env=env, pass_fds=[writing], text=True)
        for fd in writing, stdin, open_until_it_ends:
            os.close(fd)
        with open(reading, encoding="ascii") as file:
            return [json.loads(line) for line in file], done.returncode, done.stderr

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.makedirs(os.path.join(self.folder, "data", "class"))
        for name in "a.jpg", "b.jpg":
            with open(os.path.join(self.folder, "data", "class", name), "w", encoding="ascii") as file:
                file.write(name)

    def test_other_versions(self):
        """A package that lacks something is named with its version and the one that is supported."""
        cv2 = "IMREAD_IGNORE_ORIENTATION = 128"
        whole = """
            IMREAD_COLOR_RGB = IMREAD_IGNORE_ORIENTATION = 1
            def getBuildInformation(): return ""
            def setNumThreads(n, and_more): pass
            """
        OPENCV = "opencv-python-headless"
        modules = {"numpy": "", "torch": "__version__ = '1'"}
        for opencv, versions, want in [
            (cv2, {OPENCV: "4.5.0"}, r"^opencv-python-headless 4.5.0 is not the \S+ that is supported: AttributeError: "
             r"module 'cv2' has no attribute 'IMREAD_COLOR_RGB'; pip install opencv-python-headless==\S+ "),
            (whole, {OPENCV: "9.0"}, "^opencv-python-headless 9.0 is not .*TypeError: .*and_more"),
            ("import none_such_module", {OPENCV: "9.0"}, "^none_such_module is not installed: pip install"),
            (cv2, {}, "^AttributeError: module 'cv2' has no attribute 'IMREAD_COLOR_RGB'"),  # nobody knows why
        ]:
            with self.subTest(want=want):
                records, code, log = self.adapter("opencv", {**modules, "cv2": opencv}, versions)
                self.assertEqual(code, 1, log)
                self.assertRegex(records[-1]["error"], want)
                self.assertNotIn("\n", records[-1]["error"])
                for folder in glob.glob(os.path.join(self.folder, "*.dist-info")):
                    shutil.rmtree(folder)

    def test_ffcv_file(self):
        """A file is written as a whole, once; what a killed writer leaves is removed."""
        modules = {
            "numpy": "def array(x): return x",
            "torch": "",
            "PIL.Image": """
                class open:
                    def __init__(self, path): pass
                    def __enter__(self): return self
                    def __exit__(self, *_): pass
                    def convert(self, mode): return [0]
                """,
            "ffcv.fields.__init__": "IntField = RGBImageField = lambda *_, **__: None",
            "ffcv.fields.decoders": "IntDecoder = None\nclass RandomResizedCropRGBImageDecoder: pass",
            "ffcv.loader": "Loader = OrderOption = None",
            "ffcv.reader": "Reader = None",
            "ffcv.transforms": "NormalizeImage = RandomHorizontalFlip = Squeeze = ToTensor = ToTorchImage = None",
            "ffcv.writer": """
                import os, signal
                class DatasetWriter:
                    def __init__(self, path, fields, num_workers): self.path = path
                    def from_indexed_dataset(self, images, good):
                        with open(self.path, "w") as file:
                            file.write("half")
                            file.flush()
                            if os.environ.get("KILLED"): os.kill(os.getpid(), signal.SIGKILL)
                            file.write(str(len(good)))
                """,
        }
        cache = os.path.join(self.folder, "cache")
        whole = [".beton", ".lock"]
        for killed, code, left in ("1", -signal.SIGKILL, [".lock", ".new"]), ("", 0, whole), ("1", 0, whole):
            records, have, log = self.adapter("ffcv", modules, {"ffcv": "1.0.2"}, DLBENCH_PREPARE="1", KILLED=killed)
            self.assertEqual((have, records), (code, []), log)
            self.assertEqual(sorted(os.path.splitext(name)[1] for name in os.listdir(cache)), left)
        (file,) = (name for name in os.listdir(cache) if name.endswith(".beton"))
        with open(os.path.join(cache, file), encoding="ascii") as text:
            self.assertEqual(text.read(), "half2")


class ByHandTest(Timed):
    def test_terminal(self):
        class Left(Exception):
            pass

        os.environ.pop("DLBENCH_FD", None)
        loader = Loader(self.clock, 0.02, batches=151)
        with mock.patch.object(dlbench, "_leave", side_effect=Left), self.assertRaises(Left):
            dlbench.serve(iter(loader), name="mine")
        lines = self.out.getvalue().splitlines()
        self.assertIn("mine: measured by hand, Ctrl-C ends it", lines[0])
        self.assertEqual(lines[1:3], ["it took 0.000 s to start", "the first batch took 0.020 s"])
        self.assertEqual(lines[3].strip(), "1600 images/s; a batch takes 20.0 ms, at most 20.0 ms")
        self.assertIn("dlbench.py: the loader came to its end in epoch 1", self.err.getvalue())

    def test_no_path(self):
        """Without a folder a line says what to set, but a mistake in the script keeps its traceback."""
        for make, want in [
            (lambda settings: os.listdir(settings.path), r"\Adlbench.py: set DLBENCH_PATH=DIR, .*\(FileNotFound.*\n\Z"),
            (lambda settings: settings.paths, r"\ATraceback"),
        ]:
            with self.subTest(want=want), contextlib.redirect_stderr(io.StringIO()) as err:
                os.environ.pop("DLBENCH_FD", None)
                os.environ.pop("DLBENCH_PATH", None)
                with mock.patch.object(dlbench, "_leave"):
                    dlbench.serve(make)
                self.assertRegex(err.getvalue(), want)


class WrapTest(Timed):
    def train(self, loader, step, epochs=1, out=None):
        for _ in range(epochs):
            for batch in dlbench.wrap(loader, out=out or self.folder):
                step(batch)

    def test_host(self):
        for depth, each, step, stall in [
            (0, 1 / 128, 1 / 32, 1 / 128),
            (0, 1 / 32, 1 / 64, 1 / 32),
            (8, 1 / 128, 1 / 32, 0),
            (8, 1 / 32, 1 / 64, 1 / 64),
        ]:
            with self.subTest(depth=depth, each=each):
                folder = os.path.join(self.folder, f"{depth}-{each}")
                self.train(Loader(self.clock, each, 1601, depth), lambda batch: self.clock.sleep(step), out=folder)
                self.assertAlmostEqual(self.metric("stall", folder)["median"], stall)
                self.assertAlmostEqual(self.metric("throughput", folder)["median"], 32 / (stall + step))
                self.assertAlmostEqual(self.metric("need", folder)["median"], 32 / step)
                self.assertAlmostEqual(self.metric("stalled", folder)["median"], stall / (stall + step))
                self.assertAlmostEqual(self.metric("first", folder)["median"], each)
                self.assertEqual(len(self.metric("stall", folder)["samples"]), 1600 // (4 * max(1, depth)))
                self.assertEqual(self.metric("stall", folder)["confidence"], 0.95)

    def test_lines_and_report(self):
        loader = Loader(self.clock, 0.005, 401, 4)
        wrapped = dlbench.wrap(loader, out=self.folder)
        wrapped.mixup = False
        self.assertEqual((len(wrapped), wrapped.num_workers, loader.mixup), (401, 1, False))
        for _ in wrapped:
            self.clock.sleep(0.003)
        self.assertEqual(
            self.err.getvalue().splitlines(),
            [
                "dlbench: the training reached 6400 images/s; its steps need 10700 images/s",
                "dlbench: it waited for data for 40.0 % of the time",
                f"dlbench: report {self.folder}/report.json; not seen: copies on streams of the loader's own, "
                "workers that take CPU time from it",
            ],
        )
        result = self.result()
        self.assertEqual((result["suite"], result["name"]), ("external", "external/loader=wrap"))
        self.assertEqual(
            result["params"], {"loader": "wrap", "workers": 1, "batch": 32, "step": "0s", "step-cpu": 0}
        )
        self.assertEqual(result["proof"]["clock"], "host")
        with open(os.path.join(self.folder, "report.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["config"]["shape"], [224, 224, 3])

    def test_cuda(self):
        for each, step, stall in [(0.006, 0.020, 0), (0.030, 0.010, 0.020 - 2 * 2e-6)]:  # two events are work, too
            with self.subTest(each=each):
                stream = Stream(self.clock)
                folder = os.path.join(self.folder, str(each))

                with mock.patch.dict(sys.modules, torch=stream.torch), mock.patch.dict(dlbench._traces):
                    self.train(Loader(self.clock, each, 401), self.enqueue(stream, step), out=folder)
                    stream.clock.sleep(10)
                    for trace in dlbench._traces.values():
                        trace.finish()
                self.assertAlmostEqual(self.metric("stall", folder)["median"], stall, delta=1e-8)
                self.assertAlmostEqual(self.metric("need", folder)["median"], 32 / step, delta=32 / step / 1000)
                self.assertEqual(self.result(folder)["proof"]["clock"], "CUDA events")
                self.assertEqual(stream.synchronized, 0)
                self.assertNotIn("no longer", self.err.getvalue())

    def test_cuda_begins_late(self):
        stream = Stream(self.clock)
        with mock.patch.dict(sys.modules):
            def step(batch):
                sys.modules["torch"] = stream.torch
                self.clock.sleep(0.010)
            self.train(Loader(self.clock, 0.005, 200), step)
            dlbench._traces[self.folder].finish()
        self.assertEqual(self.result()["proof"]["clock"], "CUDA events")
        self.assertEqual(self.result()["proof"]["steps"], 198)  # without the one before, and the first one

    def test_epochs_add_up(self):
        def slow_start():
            self.clock.sleep(16)
            yield from Loader(self.clock, 1 / 64, 320)

        for _ in range(4):
            for _ in dlbench.wrap(slow_start(), out=self.folder):
                self.clock.sleep(1 / 64)
            self.clock.sleep(60)  # validation, which is no step
        dlbench._traces[self.folder].finish()
        self.assertEqual(self.result()["proof"]["steps"], 4 * 320 - 1)
        self.assertEqual([round(s["value"], 3) for s in self.metric("first")["samples"]], [16.016] * 4)
        self.assertAlmostEqual(self.metric("throughput")["median"], 1024)
        told = self.err.getvalue().splitlines()
        self.assertEqual(len(told), 9)  # after the first epoch, the second one and the fourth one
        self.assertIn("waited for data for 50.0 % of the time; 77 % with the first batches of epochs", told[-2])

    def test_left_early(self):
        for i, _ in enumerate(dlbench.wrap(Loader(self.clock, 0.010, 100), out=self.folder)):
            self.clock.sleep(0.010)
            if i == 49:
                break
        self.assertEqual(self.result()["proof"]["steps"], 48)  # not the first, nor the one that was left

    def test_few_steps(self):
        self.train(Loader(self.clock, 0.010, 3), lambda batch: self.clock.sleep(0.010))
        self.assertNotIn("lo", self.metric("stall"))
        self.assertIn("too short for a range", self.result()["warnings"][0])
        self.train(Loader(self.clock, 0.010, 0), None, out=os.path.join(self.folder, "none"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "none")))

    def test_no_time_of_their_own(self):
        self.train(Loader(self.clock, 0.010, 100), lambda batch: None)
        self.assertEqual(self.metric("need")["reason"], "no samples")
        self.assertIn("what its steps need is unknown", self.err.getvalue())

    def test_training_goes_on(self):
        blocked = os.path.join(self.folder, "file")
        with open(blocked, "w", encoding="ascii"):
            pass
        seen = []
        self.train(Loader(self.clock, 0.010, 20), seen.append, out=os.path.join(blocked, "out"))
        self.assertEqual(len(seen), 20)
        self.assertIn("dlbench: no longer measures this training: NotADirectoryError", self.err.getvalue())

    def test_ranks(self):
        """Two ranks that wait for each other in each step, in turns of the longer wait."""
        waits = [[0.004, 0.020], [0.012, 0.001]]  # of each rank, in even and odd steps
        for rank in 0, 1:
            self.clock.now = 100.0
            os.environ.update(RANK=str(rank), WORLD_SIZE="2")

            def loader():
                for i in range(401):
                    self.clock.sleep(waits[rank][i % 2])
                    yield [0] * 32

            with mock.patch.dict(dlbench._traces):
                for i, _ in enumerate(dlbench.wrap(loader(), out=self.folder)):
                    self.clock.sleep(0.030 + max(w[i % 2] for w in waits) - waits[rank][i % 2])
                    if rank == 0:
                        self.assertFalse(os.path.exists(os.path.join(self.folder, "report.json")))
                dlbench._traces[self.folder].finish()
        self.assertAlmostEqual(self.metric("stall")["median"], 0.016)
        self.assertAlmostEqual(self.metric("throughput")["median"], 64 / 0.046)
        self.assertAlmostEqual(self.metric("need")["median"], 64 / 0.030)
        self.assertEqual(self.result()["proof"]["ranks"], 2)
        self.assertEqual(len(self.err.getvalue().splitlines()), 3)
        # Only one rank joins, when several see that all are complete.
        trace = dlbench._Trace(self.folder)
        self.assertEqual([trace.complete(1), trace.complete(2)], [True, False])
        self.assertEqual([trace.claim(1), trace.claim(2), trace.claim(2)], [False, True, False])
        # A rank that never finished: what there is can be joined by hand.
        os.remove(dlbench._trace_path(self.folder, 1))
        self.assertFalse(trace.complete(1))
        dlbench.main(["join", self.folder])
        self.assertIn("(traces of 1 of 2 ranks only", self.out.getvalue())
        with self.assertRaisesRegex(SystemExit, "No such file"):
            dlbench.main(["join", self.folder + "/none"])

    def test_ranks_with_different_numbers_of_steps(self):
        def loader(steps):
            self.clock.sleep(1)
            yield from Loader(self.clock, 0.010, steps)

        for rank, steps in (0, 41), (1, 40):
            self.clock.now = 100.0
            os.environ.update(RANK=str(rank), WORLD_SIZE="2")
            with mock.patch.dict(dlbench._traces):
                for epoch in range(2):
                    for _ in dlbench.wrap(loader(steps), out=self.folder):
                        self.clock.sleep(0.010)
                dlbench._traces[self.folder].finish()
        self.assertEqual(self.result()["proof"]["steps"], 2 * 40 - 1)
        waited = sum(s["value"] * s["n"] for s in self.metric("stall")["samples"])
        self.assertAlmostEqual(waited, 79 * 0.010 + 1)  # one start of an epoch, besides the first of all

    def test_a_trace_of_an_earlier_training(self):
        os.environ.update(RANK="1", WORLD_SIZE="2")
        self.train(Loader(self.clock, 0.010, 20), lambda batch: None)
        self.assertTrue(os.path.exists(dlbench._trace_path(self.folder, 1)))
        with mock.patch.dict(dlbench._traces, clear=True):
            batches = iter(dlbench.wrap(Loader(self.clock, 0.010, 20), out=self.folder))
            next(batches)
            self.assertFalse(os.path.exists(dlbench._trace_path(self.folder, 1)))

    def test_folders(self):
        os.environ.pop("SLURM_JOB_ID", None)
        self.assertRegex(dlbench._new_folder("wrap"), r"^dlbench-out/wrap-\d{8}T\d{6}Z-\d+$")
        os.environ.update(RANK="1", WORLD_SIZE="2")
        self.assertEqual(dlbench._new_folder("wrap"), f"dlbench-out/wrap-parent{os.getppid()}")
        os.environ.update(SLURM_JOB_ID="77", SLURM_STEP_ID="3")
        self.assertEqual(dlbench._new_folder("wrap"), "dlbench-out/wrap-77.3")


class ProbeTest(Timed):
    def probe(self, each, step, depth):
        out = os.path.join(self.folder, f"{each}-{step}-{depth}")
        loader = Loader(self.clock, each, 10**9, depth)
        dlbench.probe(loader, lambda batch: self.clock.sleep(step), seconds=10, out=out)
        metrics = [self.metric(name, out) for name in ("feeds", "need", "throughput")]
        for metric in metrics:  # what follows a change is not counted
            self.assertAlmostEqual(metric["min"], metric["max"], places=3)
        return [round(metric["median"], 6) for metric in metrics]

    def test_answers(self):
        for each, step, depth, rates, answer in [
            (0.020, 0.010, 0, (1600, 3200, 32 / 0.030),
             "yes: a faster loader would raise 1070 images/s to at most 3200 images/s (x3.00; 3.00 to 3.00)"),
            (0.010, 0.020, 0, (3200, 1600, 32 / 0.030), "alone it feeds enough, so they take turns"),
            (0.020, 0.010, 8, (1600, 3200, 1600),
             "yes: a faster loader would raise 1600 images/s to at most 3200 images/s (x2.00; 2.00 to 2.00)"),
            (0.010, 0.020, 8, (3200, 1600, 1600), "no: the step is the limit, a faster loader would not help (x1.00"),
        ]:
            with self.subTest(each=each, depth=depth):
                self.assertEqual(self.probe(each, step, depth), [round(r, 6) for r in rates])
                self.assertIn(answer, self.out.getvalue().splitlines()[-2])

    def test_lines(self):
        self.probe(0.020, 0.010, 8)
        lines = self.out.getvalue().splitlines()
        self.assertEqual(len(lines), 6)
        self.assertIn("throw away the model", lines[0])
        self.assertEqual(
            lines[1:4],
            [
                "dlbench: the loader alone feeds 1600 images/s",
                "dlbench: the step alone takes 3200 images/s",
                "dlbench: both together reach 1600 images/s",
            ],
        )

    def test_order(self):
        calls = []

        def load():
            while True:
                self.clock.sleep(0.25)
                calls.append("load")
                yield [0] * 32

        def step(batch):
            self.clock.sleep(0.25)
            calls.append("step")

        dlbench.probe(load(), step, seconds=60, out=self.folder)
        # A try of a block of 32 and the phase, each after 16 batches. 240 batches take 60 s, or 120 of a
        # load and a step: whole blocks, and some more than by the try.
        alone, both = 16 + 32 + 16 + 288, 16 + 32 + 16 + 160
        want = ["load"] * (1 + alone) + ["step"] * alone + ["load", "step"] * 2 * both + ["step"] * alone
        self.assertEqual(calls, want + ["load"] * alone)

    def test_too_close(self):
        def metric(lo, hi):
            return {"median": (lo + hi) / 2, "lo": lo, "hi": hi, "min": lo, "max": hi}

        answer = dlbench._answer(metric(50, 60), metric(100, 110), metric(95, 105), 2)
        self.assertRegex(answer, "^too close to call: .*x1.05; 0.95 to 1.16")

    def test_cuda(self):
        stream = Stream(self.clock)
        loader = Loader(self.clock, 0.030, 50)  # ends within a phase
        stretch = self.enter(mock.patch.object(dlbench, "_stretch", wraps=dlbench._stretch))
        with mock.patch.dict(sys.modules, torch=stream.torch):
            dlbench.probe(loader, self.enqueue(stream, 0.010), seconds=10, out=self.folder)
        self.assertEqual(stream.synchronized, 2 * stretch.call_count)
        self.assertLess(stretch.call_count, 6 * 4)
        self.assertAlmostEqual(self.metric("throughput")["median"], 32 / 0.030, delta=0.1)

    def test_ranks(self):
        """Ranks exchange nothing within a phase, and take the steps that the slowest one needs."""
        calls = []

        def all_reduce(numbers, op):
            calls.append(op)
            if op == "MAX":  # the other rank takes three times as long
                numbers[:] = [3 * n for n in numbers]

        torch = types.SimpleNamespace(
            float64=None,
            tensor=lambda values, **_: types.SimpleNamespace(tolist=lambda: values, values=values),
            distributed=types.SimpleNamespace(
                is_available=lambda: True,
                is_initialized=lambda: True,
                get_rank=lambda: 0,
                get_world_size=lambda: 2,
                get_backend=lambda: "gloo",
                all_reduce=lambda numbers, op: all_reduce(numbers.values, op),
                ReduceOp=types.SimpleNamespace(MAX="MAX", SUM="SUM"),
            ),
        )

        def load():
            for _ in range(10000):
                self.clock.sleep(0.25)
                calls.append("load")
                yield [0] * 32

        with mock.patch.dict(sys.modules, torch=torch):
            dlbench.probe(load(), lambda batch: self.clock.sleep(0.25), seconds=60, out=self.folder)
        # A block of 32 batches takes the other rank 24 s, and so 3 blocks 60 s.
        phase = ["load"] * (16 + 32) + ["MAX"] + ["load"] * (16 + 96) + ["MAX", "SUM", "MAX"]
        self.assertEqual(",".join(calls[1 : len(phase) + 1]), ",".join(phase))
        self.assertEqual(",".join(calls[-len(phase) :]), ",".join(phase))

    def test_no_second_epoch(self):
        with self.assertRaisesRegex(dlbench.Error, "gives nothing when it is started again"):
            dlbench.probe(iter(Loader(self.clock, 0.01, 5)), lambda batch: None, out=self.folder)


class StatisticsTest(unittest.TestCase):
    def test_interval(self):
        """The ranks that results.MedianInterval takes."""
        for n, want in [(6, (1, 6)), (8, (1, 7)), (10, (2, 9)), (20, (6, 15)), (30, (10, 21))]:
            self.assertEqual(dlbench._interval(list(range(1, n + 1)), n), want, n)
        self.assertIsNone(dlbench._interval([1, 2, 3, 4, 5], 5))
        self.assertEqual(dlbench._interval(list(range(1, 31)), 10), (5, 26))

    def test_independent(self):
        self.assertEqual(dlbench._independent([1] * 9), 9)
        self.assertEqual(dlbench._independent([1, 5, 2, 6, 1, 7]), 6)
        self.assertLess(dlbench._independent(range(20)), 2)

    def test_range(self):
        for median, lo, hi, want in [
            (575.3, 570.4, 580.2, "575 images/s (570 to 580)"),
            (460, 210, 690, "500 images/s (200 to 700)"),
            (0.1234, 0.1, 0.15, "0.12 images/s (0.10 to 0.15)"),
            (1600, 1600, 1600, "1600 images/s"),
            (0, 0, 0, "0 images/s"),
        ]:
            metric = {"median": median, "lo": lo, "hi": hi, "min": 0, "max": 0}
            self.assertEqual(dlbench._range(metric), want)


if __name__ == "__main__":
    unittest.main()
