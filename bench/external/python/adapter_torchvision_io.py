"""torchvision.io and transforms v2 on tensors of bytes in a DataLoader, as torchvision's
documentation advises ("Performance considerations"):
https://docs.pytorch.org/vision/stable/transforms.html
"""

import adapters

PACKAGES = "torchvision", "torch", "pillow", "numpy"
with adapters.needs(*PACKAGES):
    import torch
    from torchvision.io import ImageReadMode, decode_image
    from torchvision.transforms import v2


class Images:
    def __init__(self, paths, transform):
        self.paths, self.labels, self.transform = paths, adapters.labels(paths), transform

    def __getitem__(self, i):
        return self.transform(decode(self.paths[i])), self.labels[i]


def decode(path):
    return decode_image(path, ImageReadMode.RGB)


def make(s):
    size = adapters.shape(s)
    paths = adapters.images(s.path)
    transform = v2.Compose(
        [
            v2.RandomResizedCrop(size, adapters.SCALE, adapters.RATIO, antialias=True),
            v2.RandomHorizontalFlip(p=0.5),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(adapters.MEAN, adapters.STD),
        ]
    )
    return adapters.TorchLoader(Images(paths, transform), paths, s)


def crop(path, size, x, y, w, h):
    return v2.functional.resized_crop(decode(path), y, x, h, w, size, antialias=True).permute(1, 2, 0)


if __name__ == "__main__":
    adapters.serve(
        PACKAGES,
        make,
        crop,
        name="torchvision.io.decode_image, transforms v2 (antialias), DataLoader(num_workers={workers})",
        software=adapters.libjpeg("torchvision"),
    )
