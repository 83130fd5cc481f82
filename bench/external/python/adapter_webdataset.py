"""WebDataset over shards, decoded by Pillow and transformed by torchvision, as its
documentation has it for ImageNet: resampled shards, batched in the workers, a WebLoader
with a number of batches that makes an epoch:
https://github.com/webdataset/webdataset-imagenet
"""

import functools
import io
import os
import random
import re
import tarfile

import adapters
import dlbench

PACKAGES = "webdataset", "torchvision", "torch", "pillow", "numpy"
with adapters.needs(*PACKAGES):
    import torch
    import webdataset
    from PIL import Image, features
    from torchvision import transforms
    from torchvision.transforms import functional


@functools.cache
def first_samples(folder):
    """The shards, samples of the first one, and the bytes of each of its first images."""
    shards = adapters.shards(folder)
    if not shards:
        raise dlbench.Error(
            f"{folder} holds no shards (.tar files), which webdataset reads: "
            f"dlbench dataset pack {folder} SHARDS --store tar"
        )
    keys, found = set(), []
    with tarfile.open(shards[0]) as tar:
        for member in tar:
            if member.isfile() and adapters.is_image(member.name):
                keys.add(member.name)
                if len(found) < 16:
                    found.append(io.BytesIO(tar.extractfile(member).read()))
    if not found:
        raise dlbench.Error(f"{shards[0]} holds no images")
    return shards, len(keys), found


def left_out(error):
    """What WebDataset calls with an error, to go on after it."""
    where = f"{error.url}/{error.key}" if hasattr(error, "key") else str(error)
    shard = re.search(r"'([^']+\.tar)'", where, re.I)  # what is wrong with a shard names it in quotes
    adapters.left_out(shard[1] if shard else where, error.__cause__ or error)
    return True


def make(s):
    size = adapters.shape(s)
    shards, count, _ = first_samples(s.path)
    # An epoch, by the first shard's images and bytes: counting all would read all.
    count *= sum(map(os.path.getsize, shards)) / os.path.getsize(shards[0]) * s.epochs
    torch.manual_seed(s.seed)
    random.seed(s.seed)
    transform = transforms.Compose(
        [
            transforms.RandomResizedCrop(size, adapters.SCALE, adapters.RATIO),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(adapters.MEAN, adapters.STD),
        ]
    )
    extensions = ";".join(e[1:] for e in adapters.EXTENSIONS)
    dataset = (
        webdataset.WebDataset(shards, resampled=True, shardshuffle=False, handler=left_out, seed=s.seed)
        .shuffle(1000)
        .decode("pil", handler=left_out)
        .to_tuple(extensions, handler=left_out)
        .map_tuple(transform, handler=left_out)
        .batched(s.batch)
    )
    return webdataset.WebLoader(
        dataset,
        batch_size=None,
        num_workers=s.workers,
        persistent_workers=s.workers > 0,
        pin_memory=torch.cuda.is_available(),
    ).with_epoch(max(1, round(count / s.batch)))


def crop(file, size, x, y, w, h):
    return functional.resized_crop(Image.open(file).convert("RGB"), y, x, h, w, size)


if __name__ == "__main__":
    adapters.serve(
        PACKAGES,
        make,
        crop,
        name="WebDataset (Pillow), torchvision transforms, WebLoader(num_workers={workers})",
        software={"libjpeg-turbo": features.version("libjpeg_turbo") or "none"},
        candidates=lambda folder: first_samples(folder)[2],
    )
