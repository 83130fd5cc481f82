"""FFCV, with the settings of its documentation for ImageNet: images written anew as JPEG of
quality 90, at most 500 pixels a side; normalised by a table; an order that is random where
the file fits in memory and quasi-random elsewhere:
https://docs.ffcv.io/working_with_images.html
https://docs.ffcv.io/parameter_tuning.html
https://github.com/libffcv/ffcv-imagenet
The new file is kept in the folder DLBENCH_CACHE, or in one for temporary files.
"""

import hashlib
import importlib.metadata
import os
import sys
import tempfile

import adapters
import dlbench

BUILD = "apt install g++ pkg-config libopencv-dev libturbojpeg0-dev, then "
with adapters.needs("ffcv", "torch", "opencv-python-headless", "pillow", "numpy", first=BUILD):
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


def written(paths):
    """The FFCV file of the images: written the first time that they are asked for."""
    key = hashlib.sha256(repr((QUALITY, SIDE)).encode())
    for path in paths:
        status = os.stat(path)
        key.update(os.fsencode(path) + b"\0%d %d\0" % (status.st_size, status.st_mtime_ns))
    folder = os.environ.get("DLBENCH_CACHE") or os.path.join(tempfile.gettempdir(), f"dlbench-{os.getuid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    file = os.path.join(folder, f"ffcv-{key.hexdigest()[:16]}.beton")
    if os.path.exists(file):
        return file
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
    new = f"{file}.{os.getpid()}"
    fields = {
        "image": RGBImageField("jpg", max_resolution=SIDE, jpeg_quality=QUALITY),
        "label": IntField(),
    }
    DatasetWriter(new, fields, num_workers=len(os.sched_getaffinity(0))).from_indexed_dataset(images, good)
    os.replace(new, file)
    return file


def main():
    s = dlbench.settings()
    size = adapters.shape(s)
    paths = adapters.images(s.path)
    file = written(paths)
    workers = max(1, s.workers)

    def crop(path, *box):
        pipelines = {"image": [Middle(size), ToTensor()], "label": None}
        loader = Loader(file, batch_size=1, num_workers=1, indices=indices[:1], pipelines=pipelines)
        ((image,),) = loader
        return image[0].clone()

    indices = numpy.arange(Reader(file).num_samples, dtype="uint64")
    fits = os.path.getsize(file) < os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2
    loader = Loader(
        file,
        batch_size=s.batch,
        num_workers=workers,
        os_cache=fits,
        order=OrderOption.RANDOM if fits else OrderOption.QUASI_RANDOM,
        seed=s.seed,
        indices=numpy.tile(indices, s.epochs) if fits else None,
        pipelines={
            "image": [
                RandomResizedCropRGBImageDecoder(size, adapters.SCALE, adapters.RATIO),
                RandomHorizontalFlip(0.5),
                NormalizeImage(numpy.array(adapters.MEAN) * 255, numpy.array(adapters.STD) * 255, numpy.float32),
                ToTensor(),
                ToTorchImage(),
            ],
            "label": [IntDecoder(), ToTensor(), Squeeze()],
        },
    )
    dlbench.serve(
        loader,
        name=f"FFCV, images written anew as JPEG (quality {QUALITY}, {SIDE} pixels a side at most), "
        f"Loader(num_workers={workers})",
        software={"ffcv": importlib.metadata.version("ffcv"), **adapters.libjpeg("turbojpeg")},
        pixels=adapters.pixels(paths, size, crop),
    )


if __name__ == "__main__":
    adapters.run(main)
