"""What the adapters share: the images of a folder, the numbers of the transform, files
that are left out, the proof of pixels against Pillow, and what a missing package says.

Every adapter delivers what training on ImageNet asks for: a random crop resized to the
shape that is asked for, flipped half of the time, normalised, float32.
"""

import contextlib
import functools
import importlib.metadata
import os
import random
import re
import sys

import dlbench

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SCALE, RATIO = (0.08, 1.0), (3 / 4, 4 / 3)
# Those of torchvision.datasets.folder.IMG_EXTENSIONS.
EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
PACKAGES = {"PIL": "pillow", "cv2": "opencv-python-headless", "nvidia": "nvidia-dali-cuda120"}


def fail(problem):
    """Tells dlbench of an exception raised before the loader is there, and ends the process."""

    def fails(settings):
        raise problem

    dlbench.serve(fails)


@contextlib.contextmanager
def needs(*packages, first=""):
    """What is done in it needs the packages. Where one is not installed, the error is what to
    do first and the pip line that brings all of them, in the versions of requirements.txt,
    with which the adapter was tried. Where others are installed and lack something, it names
    both versions."""
    try:
        with fits(*packages):
            yield
    except ModuleNotFoundError as e:
        missing = PACKAGES.get(e.name.partition(".")[0], e.name.partition(".")[0])
        fail(dlbench.Error(f"{missing} is not installed: {first}pip install {' '.join(pinned(packages))}"))
    except (ImportError, OSError) as e:
        fail(dlbench.Error(f"{packages[0]} cannot be imported: {e}"))
    except Exception as problem:
        fail(problem)


@contextlib.contextmanager
def fits(*packages):
    """Turns errors of packages that have another version than the one that the adapter was tried
    with into one that says so."""
    try:
        yield
    except (AttributeError, ImportError, TypeError) as e:
        others = [] if isinstance(e, ModuleNotFoundError) else list(filter(None, map(other_version, pinned(packages))))
        if not others:
            raise
        why = str(e).partition("\n")[0]
        mend = f"pip install {' '.join(pinned(packages))}"
        raise dlbench.Error(f"{', '.join(others)}: {type(e).__name__}: {why}; {mend}") from e


def pinned(packages):
    """The packages in the versions of requirements.txt."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "requirements.txt")) as table:
        pins = dict(line.split("==") for line in table.read().split() if "==" in line)
    return [f"{p}=={pins[p]}" for p in packages]


def other_version(pin):
    """Says that a package is installed in another version than the pinned one, "" where it is not."""
    package, _, tried = pin.partition("==")
    try:
        found = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
    return "" if found.partition("+")[0] == tried else f"{package} {found} is not the {tried} that is supported"


def serve(packages, make, crop, name, software=None, candidates=None, prepare=None):
    """Serves the loader that make makes of settings. All that takes time of a start is in make.
    With DLBENCH_PREPARE set it calls prepare instead, which makes files that the loader wants.

    crop(candidate, size, x, y, w, h) gives the pixels of a box of a candidate, of the images of
    the folder unless candidates finds others in it. name may contain {workers}.
    """

    def made(settings):
        with fits(*packages):
            return make(settings)

    def pixels():
        with fits(*packages):
            return difference((candidates or images)(chosen.path), shape(chosen), crop)

    try:
        chosen = dlbench.settings()
        if os.environ.get("DLBENCH_PREPARE"):
            with fits(*packages):
                return prepare(chosen)
    except Exception as problem:
        fail(problem)
    dlbench.serve(made, name=name.format(workers=chosen.workers), software=software, pixels=pixels)


def is_image(path):
    name = os.path.basename(path)
    return name.lower().endswith(EXTENSIONS) and not name.startswith(".")


def walk(folder, wanted):
    """Paths of the wanted files in folders of folder, or of those directly in it."""
    below, direct = [], []
    for at, folders, names in os.walk(folder, followlinks=True):
        folders.sort()
        found = [os.path.join(at, n) for n in sorted(names) if wanted(n)]
        (direct if at == folder else below).extend(found)
    return below or direct


@functools.cache
def images(folder):
    """Paths of the images in class folders of folder, or of those directly in it."""
    paths = walk(folder, is_image)
    if not paths and shards(folder):
        raise dlbench.Error(
            f"{folder} holds shards, and this loader reads files: dlbench dataset pack {folder} FILES --store files"
        )
    if not paths:
        raise dlbench.Error(f"no images in {folder}")
    return paths


def shards(folder):
    return walk(folder, lambda name: name.lower().endswith(".tar") and not name.startswith("."))


def labels(paths):
    """The class of each path: its folder, numbered in the order of names."""
    numbers = {c: i for i, c in enumerate(sorted({os.path.dirname(p) for p in paths}))}
    return [numbers[os.path.dirname(p)] for p in paths]


_left_out = set()


def left_out(path, why):
    """Names on stderr a file that the loader goes on without, once a process."""
    if path not in _left_out:
        _left_out.add(path)
        print(f"left out: {path}: {type(why).__name__}: {why}".splitlines()[0], file=sys.stderr, flush=True)


def difference(candidates, size, crop):
    """How far a loader's pixels are from Pillow's, in levels of 255: of the first candidate
    (a path, or bytes in a file; of 16 at most) that both can decode, the box in the middle of half its
    width and height, resized, which crop(candidate, size, x, y, w, h) returns."""
    import numpy
    import PIL
    from PIL import Image

    problem = None
    for candidate in candidates[:16]:
        try:
            with Image.open(candidate) as image:
                image = image.convert("RGB")
            w, h = max(1, image.width // 2), max(1, image.height // 2)
            x, y = (image.width - w) // 2, (image.height - h) // 2
            image = image.crop((x, y, x + w, y + h)).resize((size[1], size[0]), Image.BILINEAR)
            got = numpy.asarray(crop(candidate, size, x, y, w, h)).astype(int)
            apart = abs(got - numpy.asarray(image, int))
            return {
                "mean": round(float(apart.mean()), 3),
                "max": int(apart.max()),
                "against": f"Pillow {PIL.__version__}",
            }
        except Exception as e:
            problem = problem or e
    raise problem or ValueError("no image to compare pixels of")


def libjpeg(package):
    """Version of the libjpeg-turbo that a package has loaded, where it can be told."""
    if not os.path.exists("/proc/self/maps"):
        return {}
    with open("/proc/self/maps") as maps:
        paths = {line.split(None, 5)[5].strip() for line in maps if len(line.split(None, 5)) > 5}
    for path in sorted(p for p in paths if package in p and "jpeg" in os.path.basename(p)):
        with open(path, "rb") as library:
            found = re.search(rb"libjpeg-turbo version ([0-9.]+)", library.read())
        if found:
            return {"libjpeg-turbo": found[1].decode()}
    return {}


class LeavingOut:
    """A map-style data set whose bad files are None."""

    def __init__(self, dataset, paths):
        self.dataset, self.paths = dataset, paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        try:
            return self.dataset[i]
        except Exception as e:
            left_out(self.paths[i], e)
            return None


def collate(samples):
    from torch.utils.data import default_collate

    good = [s for s in samples if s is not None]
    return default_collate(good) if good else None


class TorchLoader:
    """A DataLoader over a map-style data set of paths, without the files that are bad. Each
    pass reads every file `epochs` times, in a new random order each time."""

    def __init__(self, dataset, paths, settings):
        import torch
        from torch.utils.data import DataLoader, RandomSampler

        torch.manual_seed(settings.seed)
        random.seed(settings.seed)
        data = LeavingOut(dataset, paths)
        self.loader = DataLoader(
            data,
            settings.batch,
            sampler=RandomSampler(data, num_samples=len(data) * settings.epochs),
            num_workers=settings.workers,
            persistent_workers=settings.workers > 0,
            pin_memory=torch.cuda.is_available(),
            collate_fn=collate,
        )

    def __iter__(self):
        return (batch for batch in self.loader if batch is not None)


def shape(settings):
    """Height and width that are asked for."""
    height, width, channels = settings.shape
    if channels != 3:
        raise dlbench.Error(f"a shape of {channels} channels: this loader gives 3")
    return height, width
