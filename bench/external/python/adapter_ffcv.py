"""FFCV, with the settings of its documentation for ImageNet: images written anew as JPEG of
quality 90, at most 500 pixels a side; normalised by a table; an order that is random where
the file fits in memory and quasi-random elsewhere:
https://docs.ffcv.io/working_with_images.html
https://docs.ffcv.io/parameter_tuning.html
https://github.com/libffcv/ffcv-imagenet
The new file is kept in the folder DLBENCH_CACHE. It is written by `prepare`, before the loader is
started, and is there as a whole or not at all.
"""

import fcntl
import functools
import glob
import hashlib
import importlib.metadata
import os
import sys

import adapters
import dlbench

BUILD = "apt install g++ pkg-config libopencv-dev libturbojpeg0-dev, then "
PACKAGES = "ffcv", "torch", "opencv-python-headless", "pillow", "numpy"
with adapters.needs(*PACKAGES, first=BUILD):
    import numpy
    from ffcv.fields import IntField, RGBImageField
    from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder
    from ffcv.loader import Loader, OrderOption
    from ffcv.reader import Reader
    from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, Squeeze, ToTensor, ToTorchImage
    from ffcv.writer import DatasetWriter
    from PIL import Image

QUALITY, SIDE = 90, 500


class Images:
    def __init__(self, paths, labels):
        self.paths, self.labels = paths, labels

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        with Image.open(self.paths[i]) as image:
            return numpy.array(image.convert("RGB")), self.labels[i]


class Middle(RandomResizedCropRGBImageDecoder):
    """The box in the middle of half the width and height, in place of a random one."""

    @property
    def get_crop_generator(self):
        def middle(height, width, scale, ratio):
            h, w = max(1, int(height) // 2), max(1, int(width) // 2)
            return (int(height) - h) // 2, (int(width) - w) // 2, h, w

        return middle


@functools.cache
def file_of(folder):
    """The path of the FFCV file of the images in a folder."""
    key = hashlib.sha256(repr((QUALITY, SIDE)).encode())
    for path in adapters.images(folder):
        status = os.stat(path)
        key.update(os.fsencode(path) + b"\0%d %d\0" % (status.st_size, status.st_mtime_ns))
    return os.path.join(os.environ.get("DLBENCH_CACHE", "."), f"ffcv-{key.hexdigest()[:16]}.beton")


def prepare(s):
    """Writes the FFCV file where it is not there yet. One process does so at a time, and removes
    what earlier ones left that were killed."""
    file = file_of(s.path)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until the process ends, however it ends
        for partial in glob.glob(glob.escape(file) + ".new*"):
            os.unlink(partial)
        if not os.path.exists(file):
            write(adapters.images(s.path), f"{file}.new")
            os.replace(f"{file}.new", file)


def write(paths, file):
    print(f"writing {len(paths)} images anew, as FFCV wants them: {file}", file=sys.stderr, flush=True)
    images = Images(paths, adapters.labels(paths))
    good = []  # a bad one would end a process of the writer, which then waits for ever
    for i, path in enumerate(paths):
        try:
            images[i]
            good.append(i)
        except Exception as e:
            adapters.left_out(path, e)
    if not good:
        raise dlbench.Error("no image that Pillow can decode")
    fields = {
        "image": RGBImageField("jpg", max_resolution=SIDE, jpeg_quality=QUALITY),
        "label": IntField(),
    }
    DatasetWriter(file, fields, num_workers=len(os.sched_getaffinity(0))).from_indexed_dataset(images, good)


def make(s):
    prepare(s)
    file = file_of(s.path)
    indices = numpy.arange(Reader(file).num_samples, dtype="uint64")
    fits = os.path.getsize(file) < os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2
    return Loader(
        file,
        batch_size=s.batch,
        num_workers=max(1, s.workers),
        os_cache=fits,
        order=OrderOption.RANDOM if fits else OrderOption.QUASI_RANDOM,
        seed=s.seed,
        indices=numpy.tile(indices, s.epochs) if fits else None,
        pipelines={
            "image": [
                RandomResizedCropRGBImageDecoder(adapters.shape(s), adapters.SCALE, adapters.RATIO),
                RandomHorizontalFlip(0.5),
                NormalizeImage(numpy.array(adapters.MEAN) * 255, numpy.array(adapters.STD) * 255, numpy.float32),
                ToTensor(),
                ToTorchImage(),
            ],
            "label": [IntDecoder(), ToTensor(), Squeeze()],
        },
    )


def crop(path, size, *box):
    """The box of the first image in the file, which is the first one that is good."""
    pipelines = {"image": [Middle(size), ToTensor()], "label": None}
    first = {"batch_size": 1, "num_workers": 1, "indices": numpy.arange(1, dtype="uint64")}
    ((image,),) = Loader(file_of(dlbench.settings().path), pipelines=pipelines, **first)
    return image[0].clone()


if __name__ == "__main__":
    adapters.serve(
        PACKAGES,
        make,
        crop,
        name=f"FFCV, images written anew as JPEG (quality {QUALITY}, {SIDE} pixels a side at most), "
        "Loader(num_workers={workers})",
        software={"ffcv": importlib.metadata.version("ffcv"), **adapters.libjpeg("turbojpeg")},
        prepare=prepare,
    )
