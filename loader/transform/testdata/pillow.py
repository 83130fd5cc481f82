"""Makes pillow.txt: what Pillow resamples of the images of fixture_test.go, as SHA-256 of
the RGB values. Needs Pillow; 13.0.0 made the file.

    python pillow.py > pillow.txt
"""

import hashlib

import PIL
from PIL import Image

# width, height, x, y, width and height of the box, width and height of the sample
CROPS = [
    (500, 375, 0, 0, 500, 375, 225, 225),
    (500, 375, 17, 33, 301, 290, 225, 225),
    (500, 375, 100, 50, 120, 90, 224, 224),
    (500, 375, 3, 5, 450, 225, 225, 225),
    (500, 375, 3, 5, 225, 300, 225, 225),
    (375, 500, 20, 20, 225, 225, 225, 225),
    (640, 480, 1, 2, 639, 478, 64, 48),
    (640, 480, 0, 0, 640, 480, 3, 2),
    (333, 251, 5, 7, 96, 192, 96, 64),
    (97, 61, 0, 0, 97, 61, 225, 225),
    (97, 61, 90, 50, 7, 11, 32, 32),
    (31, 7, 30, 6, 1, 1, 16, 16),
    (1, 1, 0, 0, 1, 1, 9, 5),
    (2, 300, 0, 0, 2, 300, 8, 8),
    (300, 2, 0, 0, 300, 2, 8, 8),
    (257, 129, 0, 1, 256, 128, 1, 1),
    (257, 129, 0, 1, 256, 128, 128, 64),
    (768, 96, 0, 0, 768, 96, 256, 32),
    (1500, 1200, 11, 13, 1400, 1100, 100, 90),
    (65500, 3, 100, 0, 65000, 3, 50, 20),
    (3, 65500, 0, 100, 3, 65000, 20, 50),
]


def picture(w, h):
    state = (w * 65537 + h) & 0xFFFFFFFF
    out = bytearray(3 * w * h)
    i = 0
    for y in range(h):
        for x in range(w):
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            out[i] = ((x * 255 // w) ^ (state >> 29)) & 255
            out[i + 1] = ((x // 7 + y // 5) % 2 * 200 + (state >> 27)) & 255
            out[i + 2] = state >> 24
            i += 3
    return Image.frombytes("RGB", (w, h), bytes(out))


print(f"# Pillow {PIL.__version__}, by pillow.py")
for case in CROPS:
    w, h, x, y, cw, ch, ow, oh = case
    image = picture(w, h).crop((x, y, x + cw, y + ch))
    image = image.resize((ow, oh), Image.Resampling.BILINEAR)
    print("crop", *case, hashlib.sha256(image.tobytes()).hexdigest())
