"""DALI on the CPU, as its documentation's "ImageNet Training in PyTorch" has it:
https://docs.nvidia.com/deeplearning/dali/user-guide/docs/examples/use_cases/pytorch/resnet50/pytorch-resnet50.html
DALI offers no way to go on after a file that it cannot decode: that ends the run.
"""

import contextlib
import re

import adapters

PACKAGES = "nvidia-dali-cuda120", "torch", "pillow", "numpy"
with adapters.needs(*PACKAGES):
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy


def resize(images, size):
    return fn.resize(images, resize_y=size[0], resize_x=size[1], interp_type=types.INTERP_TRIANGULAR)


@pipeline_def
def training(paths, labels, size):
    files, labels = fn.readers.file(files=paths, labels=labels, random_shuffle=True, name="Reader")
    images = fn.decoders.image_random_crop(
        files,
        output_type=types.RGB,
        adjust_orientation=False,
        random_area=adapters.SCALE,
        random_aspect_ratio=adapters.RATIO,
        num_attempts=100,
    )
    images = fn.crop_mirror_normalize(
        resize(images, size),
        dtype=types.FLOAT,
        output_layout="CHW",
        mean=[255 * m for m in adapters.MEAN],
        std=[255 * d for d in adapters.STD],
        mirror=fn.random.coin_flip(probability=0.5),
    )
    return images, labels


@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def one(path, x, y, w, h, size):
    files, _ = fn.readers.file(files=[path])
    images = fn.decoders.image_slice(
        files, (x, y), (w, h), axis_names="WH", output_type=types.RGB, adjust_orientation=False
    )
    return resize(images, size)


@contextlib.contextmanager
def one_line():
    """DALI's errors without the pages about the pipeline around them."""
    try:
        yield
    except RuntimeError as e:
        about = re.split("C\\+\\+ context|Current pipeline object", str(e).partition("encountered:")[2] or str(e))[0]
        about = " ".join(about.split())
        if "/" not in about:
            about += "; DALI does not name the file: dlbench dataset check names those that are bad"
        raise RuntimeError(about) from e


class Batches:
    """Images and labels of DALI's iterator, which gives a dict for each of its GPUs."""

    def __init__(self, pipeline):
        with one_line():
            pipeline.build()
            self.iterator = DALIClassificationIterator(
                pipeline, reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
            )

    def __iter__(self):
        with one_line():
            for (batch,) in self.iterator:
                yield batch["data"], batch["label"]


def make(s):
    paths = adapters.images(s.path)
    return Batches(
        training(
            paths * s.epochs,
            adapters.labels(paths) * s.epochs,
            adapters.shape(s),
            batch_size=s.batch,
            num_threads=max(1, s.workers),
            device_id=None,
            seed=s.seed,
        )
    )


def crop(path, size, *box):
    pipeline = one(path, *box, size)
    pipeline.build()
    return pipeline.run()[0].at(0)


if __name__ == "__main__":
    adapters.serve(
        PACKAGES,
        make,
        crop,
        name="DALI on the CPU, image_random_crop, DALIClassificationIterator, num_threads={workers}",
        software=adapters.libjpeg("nvidia"),
    )
