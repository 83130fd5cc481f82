"""OpenCV in PyTorch's DataLoader: imdecode, a crop, and, as its documentation advises,
resize by INTER_AREA to shrink and INTER_LINEAR to enlarge, and a table that normalises:
https://docs.opencv.org/4.x/da/d54/group__imgproc__transform.html#ga47a974309e9102f5f08231edc7e7529d
https://docs.opencv.org/4.x/db/da5/tutorial_how_to_scan_images.html
OpenCV's own threads are off: the workers are the threads.
"""

import math
import random
import re

import adapters

PACKAGES = "opencv-python-headless", "torch", "pillow", "numpy"
with adapters.needs(*PACKAGES):
    import cv2
    import numpy
    import torch

    FLAGS = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION


def box(height, width):
    """The box of torchvision's RandomResizedCrop.get_params: x, y, width, height."""
    low, high = map(math.log, adapters.RATIO)
    for _ in range(10):
        target = height * width * random.uniform(*adapters.SCALE)
        ratio = math.exp(random.uniform(low, high))
        w, h = round(math.sqrt(target * ratio)), round(math.sqrt(target / ratio))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, width - w), random.randint(0, height - h), w, h
    w, h = min(width, round(height * adapters.RATIO[1])), min(height, round(width / adapters.RATIO[0]))
    return (width - w) // 2, (height - h) // 2, w, h


class Images:
    def __init__(self, paths, size):
        self.paths, self.labels, self.size = paths, adapters.labels(paths), size
        levels = numpy.arange(256, dtype=numpy.float32).reshape(256, 1, 1) / 255
        self.table = (levels - numpy.float32(adapters.MEAN)) / numpy.float32(adapters.STD)

    def __getitem__(self, i):
        image = decode(self.paths[i])
        image = resize(image, self.size, *box(*image.shape[:2]))
        if random.random() < 0.5:
            image = cv2.flip(image, 1)
        image = cv2.LUT(image, self.table)
        return torch.from_numpy(image.transpose(2, 0, 1)), self.labels[i]


def resize(image, size, x, y, w, h):
    height, width = size
    how = cv2.INTER_AREA if w >= width and h >= height else cv2.INTER_LINEAR
    return cv2.resize(image[y : y + h, x : x + w], (width, height), interpolation=how)


def decode(path):
    image = cv2.imdecode(numpy.fromfile(path, numpy.uint8), FLAGS)
    if image is None:
        raise ValueError("OpenCV cannot decode it")
    return image


def make(s):
    cv2.setNumThreads(0)
    paths = adapters.images(s.path)
    return adapters.TorchLoader(Images(paths, adapters.shape(s)), paths, s)


def crop(path, size, *box):
    return resize(decode(path), size, *box)


if __name__ == "__main__":
    jpeg = re.search(r"^\s*JPEG:.*turbo \(ver ([0-9.]+)", cv2.getBuildInformation(), re.M)
    adapters.serve(
        PACKAGES,
        make,
        crop,
        name="cv2.imdecode, cv2.resize, cv2.LUT, DataLoader(num_workers={workers})",
        software={"libjpeg-turbo": jpeg[1]} if jpeg else {},
    )
