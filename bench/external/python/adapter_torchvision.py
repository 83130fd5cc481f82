"""torchvision's ImageFolder (Pillow) in a DataLoader, as PyTorch's ImageNet example has it:
https://github.com/pytorch/examples/blob/main/imagenet/main.py
"""

import os

import adapters

PACKAGES = "torchvision", "torch", "pillow", "numpy"
with adapters.needs(*PACKAGES):
    from PIL import features
    from torchvision import datasets, transforms
    from torchvision.transforms import functional


class Flat(datasets.ImageFolder):
    """Images without class folders: one class."""

    def find_classes(self, directory):
        return ["."], {".": 0}


def make(s):
    size = adapters.shape(s)
    paths = adapters.images(s.path)
    transform = transforms.Compose(
        [
            transforms.RandomResizedCrop(size, adapters.SCALE, adapters.RATIO),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(adapters.MEAN, adapters.STD),
        ]
    )
    flat = os.path.samefile(os.path.dirname(paths[0]), s.path)
    folder = (Flat if flat else datasets.ImageFolder)(
        s.path, transform, is_valid_file=adapters.is_image, allow_empty=True
    )

    return adapters.TorchLoader(folder, [path for path, _ in folder.samples], s)


def crop(path, size, x, y, w, h):
    return functional.resized_crop(datasets.folder.default_loader(path), y, x, h, w, size)


if __name__ == "__main__":
    adapters.serve(
        PACKAGES,
        make,
        crop,
        name="torchvision.datasets.ImageFolder (Pillow), transforms, DataLoader(num_workers={workers})",
        software={"libjpeg-turbo": features.version("libjpeg_turbo") or "none"},
    )
