"""Holds what `dlbench dataset check` predicts of files against what reads them: Pillow as
torchvision's ImageFolder uses it, torchvision.io, OpenCV and DALI on the CPU. Needs a Python that
has these; run by hand.

usage: check-readers.py DLBENCH DATA [--mutated N] [--seed N] [--keep DIR] [--most SHARE]

DLBENCH is the program, DATA a folder with odd/, field/ and photos/ (DLBENCH_TESTDATA). The files
are all images of odd and field, members of its shards too, and N files (500) that are made of
photos: cut off, with bytes changed in header and data, with parts removed or doubled, of other
formats by Pillow, with another format's extension. The same seed makes the same files.

Prints a line for each file and reader that disagree, and a table; exits with 1 where a reader
disagrees over more than SHARE (0.02) of the files, those in formats that dlbench does not decode
left out: of these it sees no more than what they are. Each reader is a process of its own, started
anew when it crashes or stands still, which counts as stopped.
"""

import argparse
import io
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile

EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
PATIENCE = 60  # s that a file may take


# The readers: each is a function that makes one which takes a path, and raises where it would stop.


def pillow():
    from PIL import Image

    def read(path):
        with open(path, "rb") as f:
            Image.open(f).convert("RGB")

    return read


def torchvision_io():
    from torchvision.io import ImageReadMode, decode_image, read_file

    return lambda path: decode_image(read_file(path), mode=ImageReadMode.RGB)


def opencv():
    import cv2

    def read(path):
        if cv2.imread(path, cv2.IMREAD_COLOR) is None:
            raise ValueError("imread returns None")

    return read


def dali():
    import numpy
    from nvidia.dali import fn, pipeline_def

    state = {}

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def decoding():
        encoded = fn.external_source(source=lambda: [state["data"]], batch=True)
        return fn.decoders.image(encoded, device="cpu")

    def read(path):
        state["data"] = numpy.fromfile(path, dtype=numpy.uint8)
        pipe = decoding(prefetch_queue_depth=1, exec_async=False, exec_pipelined=False)
        pipe.build()
        pipe.run()

    return read


READERS = {"pillow": pillow, "torchvision.io": torchvision_io, "opencv": opencv, "dali": dali}


def child(name):
    """Reads the paths on stdin, and says of each how that ended. A process that crashes is followed by
    another, which has the reader loaded already."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    read = READERS[name]()
    print("ready", file=out, flush=True)
    while True:
        pid = os.fork()
        if pid == 0:
            for line in iter(sys.stdin.readline, ""):
                print(outcome_of(read, line.rstrip("\n")), file=out, flush=True)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        if status == 0:
            os._exit(0)
        print("crashed: signal %d, exit code %d" % (status & 127, status >> 8), file=out, flush=True)


def outcome_of(read, path):
    try:
        read(path)
        return "ok"
    except Exception as e:  # noqa: BLE001 - whatever it raises stops a loader
        return "%s: %s" % (type(e).__name__, " ".join(str(e).split())[:300])


class Reader:
    """A reader in a process of its own."""

    def __init__(self, name):
        self.name, self.process = name, None

    def ask(self, path):
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, os.path.abspath(__file__), "--child", self.name], text=True, bufsize=1,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
            if self.answer(10 * PATIENCE) != "ready":
                sys.exit("%s cannot be loaded by %s" % (self.name, sys.executable))
        self.process.stdin.write(path + "\n")
        said = self.answer(PATIENCE)
        if said is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process, said = None, "not read after %d s" % PATIENCE
        return said

    def answer(self, patience):
        ready, _, _ = select.select([self.process.stdout], [], [], patience)
        return self.process.stdout.readline().strip() or None if ready else None

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


# The files.


def originals(data):
    """Yields the names and bytes of all images of odd and field, of members of shards too."""
    for part in "odd", "field":
        for folder, _, names in sorted(os.walk(os.path.join(data, part))):
            for name in sorted(names):
                path = os.path.join(folder, name)
                shown = os.path.relpath(path, data)
                if name.lower().endswith(EXTENSIONS):
                    with open(path, "rb") as f:
                        yield shown, f.read()
                elif name.endswith(".tar"):
                    yield from members(shown, path)


def members(shown, path):
    try:
        with tarfile.open(path, ignore_zeros=True) as shard:
            for m in shard:
                if m.isreg() and m.name.lower().endswith(EXTENSIONS):
                    yield shown + "/%d/" % m.offset + m.name, shard.extractfile(m).read()
    except tarfile.TarError:
        pass  # what cannot be read of a shard is no file


def entropy(data):
    """Where the data of the first scan of a JPEG begin."""
    return max(data.find(b"\xff\xda"), 0) + 14


def cut(r, data):
    return data[: r.randrange(1, len(data))]


def cut_end(r, data):
    return data[: -r.randrange(1, min(64, len(data)))]


def flip(r, data, low, high, most):
    out = bytearray(data)
    for _ in range(r.randint(1, most)):
        out[r.randrange(low, high)] = r.randrange(256)
    return bytes(out)


def flip_header(r, data):
    return flip(r, data, 0, min(len(data), 700), 8)


def flip_data(r, data):
    return flip(r, data, min(entropy(data), len(data) - 1), len(data), 20)


def remove(r, data):
    at = r.randrange(len(data))
    return data[:at] + data[at + r.randint(1, 4096):]


def zeros(r, data):
    at, n = r.randrange(len(data)), r.randint(1, 8192)
    return data[:at] + bytes(len(data[at:at + n])) + data[at + n:]


def zeros_to_end(r, data):
    at = r.randrange(1, len(data))
    return data[:at] + bytes(len(data) - at)


def double(r, data):
    at = r.randrange(len(data))
    return data[:at] + data[max(0, at - 1000):at] + data[at:]


def more(r, data):
    return data + r.randbytes(r.randint(1, 5000))


MUTATIONS = [cut, cut_end, flip_header, flip_data, remove, zeros, zeros_to_end, double, more]


# What Pillow writes, and OpenCV where Pillow does not: format, extension, mode, options.
FORMS = [
    ("JPEG", ".jpg", "RGB", {"progressive": True}), ("JPEG", ".jpg", "L", {}), ("JPEG", ".jpg", "CMYK", {}),
    ("JPEG", ".jpg", "RGB", {"restart_marker_rows": 1}), ("JPEG", ".jpg", "RGB", {"subsampling": 0}),
    ("PNG", ".png", "RGB", {}), ("PNG", ".png", "P", {}), ("PNG", ".png", "RGBA", {}), ("PNG", ".png", "1", {}),
    ("PNG", ".png", "LA", {}), ("PNG", ".png", "I;16", {}),
    ("GIF", ".gif", "P", {}), ("BMP", ".bmp", "RGB", {}), ("BMP", ".bmp", "P", {}), ("BMP", ".bmp", "1", {}),
    ("BMP", ".bmp", "RGBA", {}), ("TIFF", ".tif", "RGB", {}), ("TIFF", ".tif", "CMYK", {}),
    ("TIFF", ".tif", "F", {}), ("TIFF", ".tif", "RGB", {"compression": "tiff_lzw"}),
    ("TIFF", ".tif", "RGB", {"compression": "tiff_adobe_deflate"}), ("TIFF", ".tif", "I;16", {}),
    ("TIFF", ".tif", "RGB", {"compression": "jpeg"}), ("TIFF", ".tif", "1", {"compression": "group4"}),
    ("TIFF", ".tif", "RGB", {"compression": "packbits"}), ("TIFF", ".tif", "LAB", {}),
    ("WEBP", ".webp", "RGB", {}), ("WEBP", ".webp", "RGB", {"lossless": True}), ("WEBP", ".webp", "RGBA", {}),
    ("PPM", ".ppm", "RGB", {}), ("PPM", ".pgm", "L", {}), ("PPM", ".ppm", "1", {}), ("PPM", ".pgm", "I;16", {}),
    ("AVIF", ".avif", "RGB", {}), ("JPEG2000", ".jp2", "RGB", {}),
]
# Formats of which dlbench sees no more than that they are there.
RARE = [
    ("TIFF", ".tif", "RGB", {"big_tiff": True}), ("PPM", ".pfm", "F", {}),
    ("TGA", ".tga", "RGB", {}), ("ICO", ".ico", "RGB", {}), ("PCX", ".pcx", "RGB", {}), ("DDS", ".dds", "RGB", {}),
    ("PDF", ".pdf", "RGB", {}), ("SGI", ".sgi", "RGB", {}), ("EPS", ".eps", "RGB", {}), ("QOI", ".qoi", "RGB", {}),
    ("IM", ".im", "RGB", {}), ("ICNS", ".icns", "RGBA", {}), ("MSP", ".msp", "1", {}), ("XBM", ".xbm", "1", {}),
    ("BLP", ".blp", "P", {}),
    ("OpenCV", ".ras", "RGB", {}), ("OpenCV", ".hdr", "RGB", {}), ("OpenCV", ".pam", "RGB", {}),
    ("OpenCV", ".pfm", "RGB", {}),
]


def written(photo, form, ext, mode, options):
    """The photo in another format, and a name of that."""
    from PIL import Image

    image = Image.open(io.BytesIO(photo)).convert("RGB").resize((160, 120))
    if mode == "LAB":
        from PIL import ImageCms

        srgb, lab = ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB")
        image = ImageCms.applyTransform(image, ImageCms.buildTransform(srgb, lab, "RGB", "LAB"))
    else:
        image = image.convert("L" if mode == "I;16" else mode)
        image = image.convert(mode)
    name = "-".join([form, mode] + [str(v) for v in options.values()])
    if form == "OpenCV":
        return ext[1:], by_opencv(image, ext)
    out = io.BytesIO()
    image.save(out, form, **options)
    return name, out.getvalue()


def by_opencv(image, ext):
    import cv2
    import numpy

    pixels = numpy.asarray(image)
    return cv2.imencode(ext, pixels.astype("float32") / 255 if ext in (".hdr", ".pfm") else pixels)[1].tobytes()


def catalogue(photo):
    """Yields a whole file of each form."""
    for form in FORMS + RARE:
        name, data = written(photo, *form)
        yield "forms/" + name + (form[1] if form[1] in EXTENSIONS else ".png"), data


def mutated(data, count, seed):
    """Yields names and bytes of so many files made of photos."""
    r, whole = random.Random(seed), photos(data)
    for i in range(count):
        photo, name, ext = r.choice(whole), "photo", ".jpg"
        change = r.choice(MUTATIONS)
        if i % 2:
            form = r.choice(FORMS + RARE)
            ext = form[1]
            name, photo = written(photo, *form)
        if ext not in EXTENSIONS or r.random() < 0.1:
            ext = r.choice(EXTENSIONS)
        yield "mutated/%s %s%s" % (name, change.__name__, ext), change(r, photo)


def photos(data):
    folder = os.path.join(data, "photos")
    found = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            found.append(f.read())
    return found


def corpus(root, data, count, seed):
    """Writes all files, with names that are unlike, and returns what each is, by its path."""
    os.makedirs(os.path.join(root, "all"))
    shown = {}
    for files in originals(data), catalogue(photos(data)[0]), mutated(data, count, seed):
        for name, content in files:
            path = "all/%05d%s" % (len(shown), os.path.splitext(name)[1])
            shown[path] = name
            with open(os.path.join(root, path), "wb") as f:
                f.write(content)
    return shown


def predictions(program, root):
    """What dlbench says of each file: the readers that it would stop, and why."""
    done = subprocess.run([program, "dataset", "check", root, "--format", "json"], capture_output=True, text=True)
    if not done.stdout:
        sys.exit(done.stderr)
    census = json.loads(done.stdout)
    words = {f["path"]: f["reason"] for kind in ("bad", "not_decoded_here", "damage") for f in census.get(kind, [])}
    stops = {f["path"]: (f["readers"], f["reason"]) for f in census.get("stops", [])}
    return words, stops


def main():
    p = argparse.ArgumentParser()
    p.add_argument("dlbench")
    p.add_argument("data")
    p.add_argument("--mutated", type=int, default=500)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep", help="folder for the files and outcome.json")
    p.add_argument("--most", type=float, default=0.02)
    p.add_argument("--readers", default=",".join(READERS))
    o = p.parse_args()
    root = o.keep or tempfile.mkdtemp()
    shown = corpus(root, o.data, o.mutated, o.seed)
    words, stops = predictions(o.dlbench, root)
    disagree, outcome = 0, {}
    table = ["%-15s %6s %6s %14s %14s %22s" % (
        "reader", "files", "stops", "not predicted", "only predicted", "of these, not decoded")]
    for name in o.readers.split(","):
        reader = Reader(name)
        stopped = missed = wrong = rare = 0
        for path in sorted(shown):
            said, word = reader.ask(os.path.join(root, path)), words.get(path, "good")
            outcome.setdefault(path, {"is": shown[path], "dlbench": word})[name] = said
            readers, reason = stops.get(path, ((), ""))
            bad, predicted = said != "ok", name in readers
            stopped += bad
            missed += bad and not predicted
            wrong += predicted and not bad
            if bad != predicted:
                rare += "not decoded here" in word
                print("%s %s %s: %s | predicted: %s | dlbench: %s" % (
                    name, path, shown[path], said[-150:], reason if predicted else "reads it", word))
        reader.close()
        table.append("%-15s %6d %6d %14d %14d %22d" % (name, len(shown), stopped, missed, wrong, rare))
        disagree = max(disagree, missed + wrong - rare)
    print("\n".join(table))
    if o.keep:
        with open(os.path.join(root, "outcome.json"), "w") as f:
            json.dump(outcome, f, indent=1)
    else:
        shutil.rmtree(root)
    sys.exit(disagree > o.most * len(shown))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
    else:
        main()
