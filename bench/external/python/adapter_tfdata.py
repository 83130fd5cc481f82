"""tf.data as TensorFlow's guide to its performance and the ResNet of its model garden have
it: a fused decode and crop in a parallel map, batch, prefetch:
https://www.tensorflow.org/guide/data_performance
https://github.com/tensorflow/models/blob/master/official/legacy/image_classification/resnet/imagenet_preprocessing.py
tf.data leaves out what it cannot decode, with a warning that does not name the file.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import adapters

PACKAGES = "tensorflow-cpu", "pillow", "numpy"
with adapters.needs(*PACKAGES):
    import tensorflow as tf


def whole(data):
    return tf.ensure_shape(tf.io.decode_image(data, channels=3, expand_animations=False), (None, None, 3))


def size_of(data):
    if tf.io.is_jpeg(data):
        return tf.image.extract_jpeg_shape(data)
    return tf.shape(whole(data))


def cropped(data, window, size):
    """The window (y, x, height, width) of an image, resized; float32 levels."""
    if tf.io.is_jpeg(data):
        image = tf.image.decode_and_crop_jpeg(data, window, channels=3)
    else:
        image = tf.image.crop_to_bounding_box(whole(data), *tf.unstack(window))
    return tf.image.resize(image, size, method=tf.image.ResizeMethod.BILINEAR)


def training(path, size):
    data = tf.io.read_file(path)
    begin, extent, _ = tf.image.sample_distorted_bounding_box(
        size_of(data),
        bounding_boxes=tf.zeros((1, 0, 4)),
        min_object_covered=0.0,
        aspect_ratio_range=adapters.RATIO,
        area_range=adapters.SCALE,
        max_attempts=100,
        use_image_if_no_bounding_boxes=True,
    )
    image = cropped(data, tf.concat([begin[:2], extent[:2]], 0), size)
    image = tf.image.random_flip_left_right(image)
    return (image - 255 * tf.constant(adapters.MEAN)) / (255 * tf.constant(adapters.STD))


def make(s):
    size = adapters.shape(s)
    paths = adapters.images(s.path)
    workers = max(1, s.workers)
    tf.random.set_seed(s.seed)
    options = tf.data.Options()
    options.threading.private_threadpool_size = workers
    return (
        tf.data.Dataset.from_tensor_slices((list(map(os.fsencode, paths)), adapters.labels(paths)))
        .shuffle(len(paths), seed=s.seed)
        .repeat(s.epochs)
        .map(lambda path, label: (training(path, size), label), num_parallel_calls=workers)
        .ignore_errors(log_warning=True)
        .batch(s.batch)
        .prefetch(tf.data.AUTOTUNE)
        .with_options(options)
    )


def crop(path, size, x, y, w, h):
    return tf.cast(tf.round(cropped(tf.io.read_file(path), tf.constant([y, x, h, w]), size)), tf.uint8)


if __name__ == "__main__":
    adapters.serve(
        PACKAGES,
        make,
        crop,
        name="tf.data, decode_and_crop_jpeg, tf.image.resize (no antialias), num_parallel_calls={workers}",
    )
