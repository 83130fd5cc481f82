"""A worker of compare-peers.sh: preprocesses all files of a folder each time that it
reads a line, and answers with one line of JSON: images, wall time and CPU time.

Samples are those of training on ImageNet: decode, random resized crop (scale 0.08-1,
ratio 3/4-4/3) to 225x225, flip with p 0.5, normalise, float32, batches of 32. Each pass
reads the files anew. Peers that end in -decode only read and decode.
"""

import argparse
import itertools
import json
import math
import multiprocessing
import os
import platform
import random
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

BATCH, SIDE = 32, 225
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
# Those of torchvision.datasets.folder.IMG_EXTENSIONS.
EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def is_image(path):
    name = os.path.basename(path)
    return name.lower().endswith(EXTENSIONS) and not name.startswith(".")


def images(folder):
    """Paths of the images in class folders, or of those beside each other."""
    below, beside = [], []
    for at, folders, names in os.walk(folder, followlinks=True):
        folders.sort()
        found = [os.path.join(at, n) for n in sorted(names) if is_image(n)]
        (beside if at == folder else below).extend(found)
    return below or beside


def libjpeg(package):
    """Version of the libjpeg-turbo that a package brought and has loaded."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(None, 5)[5].strip() for line in maps if len(line.split(None, 5)) > 5}
    for path in sorted(p for p in paths if package in p and "libjpeg" in os.path.basename(p)):
        with open(path, "rb") as lib:
            found = re.search(rb"libjpeg-turbo version ([0-9.]+)", lib.read())
        if found:
            return found[1].decode()
    return "unknown"


class Torch:
    """PyTorch with one thread for each operation."""

    def __init__(self):
        import torch
        import torchvision

        torch.set_num_threads(1)
        self.torch, self.torchvision = torch, torchvision
        self.software = {"torch": torch.__version__, "torchvision": torchvision.__version__}


class Folder(Torch):
    """ImageFolder and DataLoader: in the process itself for one core, with as many
    persistent workers as cores for more."""

    def __init__(self, data, paths, epochs, cores):
        super().__init__()
        import PIL
        from PIL import features
        from torchvision import datasets, transforms

        class Flat(datasets.ImageFolder):
            def find_classes(self, directory):  # images without class folders
                return ["."], {".": 0}

        nested = any(os.path.dirname(p) != data for p in paths)
        folder = (datasets.ImageFolder if nested else Flat)(
            data,
            transforms.Compose(
                [
                    transforms.RandomResizedCrop(SIDE),
                    transforms.RandomHorizontalFlip(),
                    transforms.ToTensor(),
                    transforms.Normalize(MEAN, STD),
                ]
            ),
            is_valid_file=is_image,
        )
        workers = cores if cores > 1 else 0
        self.loader = self.torch.utils.data.DataLoader(
            self.torch.utils.data.ConcatDataset([folder] * epochs),
            batch_size=BATCH,
            num_workers=workers,
            persistent_workers=workers > 0,
            # What Python 3.14 does else cannot have Flat, a class of this function's.
            multiprocessing_context="fork" if workers else None,
        )
        self.software["pillow"] = PIL.__version__
        self.software["libjpeg-turbo"] = features.version("libjpeg_turbo") or "none"
        self.does = f"torchvision.datasets.ImageFolder (Pillow), transforms v1, DataLoader(num_workers={workers})"

    def run(self):
        return sum(len(x) for x, _ in self.loader)


class Threads:
    """As many threads as cores, each taking the next batch when it is done."""

    def __init__(self, paths, epochs, cores):
        every = list(itertools.chain.from_iterable([paths] * epochs))
        self.batches = [every[i : i + BATCH] for i in range(0, len(every), BATCH)]
        self.pool = ThreadPoolExecutor(cores) if cores > 1 else None
        self.threads = f"{cores} threads" if cores > 1 else "1 thread"

    def run(self):
        return sum((self.pool.map if self.pool else map)(self.batch, self.batches))


class Tensors(Threads, Torch):
    """decode_jpeg and transforms of tensors. Of what was tried the fastest: transforms
    v2 on bytes, normalising the stacked batch (images/s of one core: 585; each image by
    itself 478; v1 380)."""

    def __init__(self, paths, epochs, cores):
        Torch.__init__(self)
        Threads.__init__(self, paths, epochs, cores)
        from torchvision import io
        from torchvision.transforms import v2

        self.io = io
        self.each = v2.Compose([v2.RandomResizedCrop(SIDE, antialias=True), v2.RandomHorizontalFlip()])
        self.all = v2.Compose([v2.ToDtype(self.torch.float32, scale=True), v2.Normalize(MEAN, STD, inplace=True)])
        io.decode_jpeg(io.read_file(paths[0]))  # loads the library
        self.software["libjpeg-turbo"] = libjpeg("torchvision")
        self.does = f"torchvision.io.decode_jpeg, transforms v2 with antialias, normalised by the batch, {self.threads}"

    def batch(self, paths):
        io = self.io
        x = [self.each(io.decode_jpeg(io.read_file(p), mode=io.ImageReadMode.RGB)) for p in paths]
        return len(self.all(self.torch.stack(x)))


def crop(height, width):
    """The box of torchvision's RandomResizedCrop.get_params: y, x, height, width."""
    area, low, high = height * width, math.log(3 / 4), math.log(4 / 3)
    for _ in range(10):
        target = area * random.uniform(0.08, 1)
        ratio = math.exp(random.uniform(low, high))
        w, h = round(math.sqrt(target * ratio)), round(math.sqrt(target / ratio))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, height - h), random.randint(0, width - w), h, w
    w, h = min(width, round(height * 4 / 3)), min(height, round(width * 4 / 3))
    return (height - h) // 2, (width - w) // 2, h, w


class OpenCV(Threads):
    """imdecode and resize. Samples are normalised by numpy, as is usual, or by a table
    (cv2.LUT), which few do and which is faster: 778 images/s of one core instead of 587."""

    def __init__(self, paths, epochs, cores, how=None, table=False):
        super().__init__(paths, epochs, cores)
        import cv2
        import numpy

        cv2.setNumThreads(0)
        self.cv2, self.numpy = cv2, numpy
        self.flags = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION
        self.software = {"opencv": cv2.__version__, "numpy": numpy.__version__}
        lines = re.findall(r"^\s*JPEG:\s*(.*)$", cv2.getBuildInformation(), re.M)
        version = re.search(r"turbo \(ver ([0-9.]+)", lines[0]) if lines else None
        self.software["libjpeg-turbo"] = version[1] if version else "unknown"
        self.own = threading.local()
        if how is None:
            self.batch = self.decode
            self.does = f"cv2.imdecode, {self.threads}"
            return
        self.how, self.tabled = getattr(cv2, how), table
        self.mean = numpy.float32(MEAN) * 255
        self.scale = 1 / (numpy.float32(STD) * 255)
        grey = numpy.arange(256, dtype=numpy.float32)[:, None] / 255
        self.table = ((grey - numpy.float32(MEAN)) / numpy.float32(STD)).reshape(256, 1, 3)
        self.does = f"cv2.imdecode, crop, cv2.resize {how}, cv2.flip, normalised by {'cv2.LUT' if table else 'numpy'}, {self.threads}"
        if how == "INTER_LINEAR":
            self.does += ", not antialiased"

    def image(self, path):
        pixels = self.cv2.imdecode(self.numpy.fromfile(path, self.numpy.uint8), self.flags)
        if pixels is None:
            raise ValueError(f"{path}: OpenCV cannot decode it")
        return pixels

    def batch(self, paths):
        out = getattr(self.own, "out", None)
        if out is None:
            out = self.own.out = self.numpy.empty((BATCH, SIDE, SIDE, 3), self.numpy.float32)
        for path, sample in zip(paths, out):
            a = self.image(path)
            y, x, h, w = crop(*a.shape[:2])
            a = self.cv2.resize(a[y : y + h, x : x + w], (SIDE, SIDE), interpolation=self.how)
            if random.random() < 0.5:
                a = self.cv2.flip(a, 1)
            if self.tabled:
                self.cv2.LUT(a, self.table, dst=sample)
            else:
                self.numpy.subtract(a, self.mean, out=sample)
                self.numpy.multiply(sample, self.scale, out=sample)
        return len(paths)

    def decode(self, paths):
        for path in paths:
            self.image(path)
        return len(paths)


class Pillow(Threads):
    def __init__(self, paths, epochs, cores):
        super().__init__(paths, epochs, cores)
        import PIL
        from PIL import Image, features

        self.open = Image.open
        self.software = {"pillow": PIL.__version__, "libjpeg-turbo": features.version("libjpeg_turbo") or "none"}
        self.does = f"Image.open(path).convert('RGB'), {self.threads}"

    def batch(self, paths):
        for path in paths:
            with self.open(path) as image:
                image.convert("RGB")
        return len(paths)


PEERS = {
    "torchvision-pil": Folder,
    "torchvision-io": lambda data, *a: Tensors(*a),
    "opencv-linear": lambda data, *a: OpenCV(*a, "INTER_LINEAR"),
    "opencv-lut": lambda data, *a: OpenCV(*a, "INTER_LINEAR", True),
    "opencv-area": lambda data, *a: OpenCV(*a, "INTER_AREA"),
    "pillow-decode": lambda data, *a: Pillow(*a),
    "opencv-decode": lambda data, *a: OpenCV(*a),
}


def cpu_time():
    """CPU seconds of this process and, by process, of those that it started."""
    times = {0: time.process_time()}
    for child in multiprocessing.active_children():
        # clock_getcpuclockid(3) of Linux: the clock of a process, ended threads included.
        times[child.pid] = time.clock_gettime((~child.pid << 3) | 2)
    return times


def one_pass(peer):
    before, began = cpu_time(), time.perf_counter()
    n = peer.run()
    wall, after = time.perf_counter() - began, cpu_time()
    if before.keys() - after.keys():
        raise RuntimeError("a worker of the loader ended in a pass")
    return {"images": n, "wall": wall, "cpu": sum(t - before.get(p, 0) for p, t in after.items())}


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--peer", choices=PEERS, required=True)
    args.add_argument("--cores", type=int, default=1)
    args.add_argument("--data", required=True)
    args.add_argument("--images", type=int, default=512, help="in a pass, at least")
    args = args.parse_args()

    # Libraries that print must not print into the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def answer(what):
        answers.write(json.dumps(what) + "\n")

    try:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.cores])
        data = os.path.normpath(args.data)
        paths = images(data)
        if not paths:
            raise ValueError(f"no images in {data}")
        epochs = -(-args.images // len(paths))
        peer = PEERS[args.peer](data, paths, epochs, args.cores)
        answer(
            {
                "files": len(paths),
                "bytes": sum(map(os.path.getsize, paths)),
                "images": len(paths) * epochs,
                "does": peer.does,
                "software": {"Python": platform.python_version(), **peer.software},
            }
        )
        for _ in sys.stdin:
            answer(one_pass(peer))
    except Exception as e:
        answer({"error": f"{type(e).__name__}: {e}"})
        sys.exit(1)


if __name__ == "__main__":
    main()
