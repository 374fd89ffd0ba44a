"""Images as inputs of a model: decoded, resized and normalized as a declaration says. Needs NumPy."""

import os

import numpy as np

KEYS = {"images", "input", "size", "layout", "channels", "scale", "mean", "std"}


def read_images(path, declaration, unfit):
    """
    A sample {input: array of float32 with a batch of one} for each image.

    `declaration`: {"images": file, folder or list of them, relative to `path`; "input": name (default: the only input);
    "size": [height, width]; "layout": "NCHW" | "NHWC"; "channels": "RGB" | "BGR" | "GRAY"; "scale": 1/255;
    "mean", "std": a number or one for each channel}. value = (pixel * scale - mean) / std. `unfit`: the error to raise with a message.
    """
    unknown = sorted(set(declaration) - KEYS)
    if unknown:
        raise unfit(f"{path}: unknown key '{unknown[0]}'; keys are {', '.join(sorted(KEYS))}")
    layout, channels = declaration.get("layout", "NCHW"), declaration.get("channels", "RGB")
    size, scale = declaration.get("size"), declaration.get("scale", 1 / 255)
    if layout not in ("NCHW", "NHWC") or channels not in ("RGB", "BGR", "GRAY"):
        raise unfit(f"{path}: layout is NCHW or NHWC, channels are RGB, BGR or GRAY")
    if not (isinstance(size, list) and len(size) == 2 and all(type(n) is int and 0 < n <= 1 << 14 for n in size)):
        raise unfit(f"{path}: size is [height, width] in pixels")
    count = 1 if channels == "GRAY" else 3
    mean = per_channel(path, "mean", declaration.get("mean", 0), count, unfit)
    std = per_channel(path, "std", declaration.get("std", 1), count, unfit)
    if not isinstance(scale, (int, float)) or not np.all(std):
        raise unfit(f"{path}: scale is a number, and no std is 0")
    samples = []
    for file in image_paths(path, declaration["images"], unfit):
        pixels = in_channels(decode(file, unfit), channels)
        values = (resize(pixels, *size) * scale - mean) / std
        if layout == "NCHW":
            values = values.transpose(2, 0, 1)
        samples.append({declaration.get("input", ""): np.ascontiguousarray(values[None], np.float32)})
    return samples


def per_channel(path, key, value, count, unfit):
    values = np.asarray(value if isinstance(value, list) else [value] * count, object)
    if len(values) != count or not all(isinstance(one, (int, float)) for one in values):
        raise unfit(f"{path}: {key} is a number, or a list of {count}")
    return values.astype(np.float64)


def image_paths(path, images, unfit):
    found = []
    for name in images if isinstance(images, list) else [images]:
        if not isinstance(name, str):
            raise unfit(f"{path}: images are paths, relative to this file")
        whole = os.path.join(os.path.dirname(path), name)
        if os.path.isdir(whole):
            names = [one for one in sorted(os.listdir(whole)) if one.lower().endswith((".png", ".jpg", ".jpeg"))]
            found += [os.path.join(whole, one) for one in names]
        else:
            found.append(whole)
    if not found:
        raise unfit(f"{path}: there are no .png or .jpg files in {images}")
    return found


def in_channels(pixels, channels):
    """Height x width x channels of one kind; transparency is dropped, as image readers for networks do."""
    colors = pixels.shape[2]
    if channels == "GRAY":
        # ITU-R 601, as Pillow and OpenCV compute it.
        return pixels[:, :, :1] if colors < 3 else pixels[:, :, :3] @ np.array([[0.299], [0.587], [0.114]])
    rgb = np.repeat(pixels[:, :, :1], 3, axis=2) if colors < 3 else pixels[:, :, :3]
    return rgb[:, :, ::-1] if channels == "BGR" else rgb


def resize(pixels, height, width):
    """Bilinear between pixel centers, without a filter against aliasing."""
    for axis, size in ((0, height), (1, width)):
        old = pixels.shape[axis]
        if old == size:
            continue
        at = np.clip((np.arange(size) + 0.5) * old / size - 0.5, 0, old - 1)
        low = np.floor(at).astype(int)
        share = (at - low).reshape([-1 if own == axis else 1 for own in range(3)])
        high = np.minimum(low + 1, old - 1)
        pixels = np.take(pixels, low, axis) * (1 - share) + np.take(pixels, high, axis) * share
    return pixels


def decode(path, unfit):
    """Height x width x channels, 0 to 255, as float64."""
    try:
        from PIL import Image
    except ImportError:
        raise unfit(f"{path}: images need the Python package Pillow. Install it, or store the samples as .npz") from None
    try:
        with Image.open(path) as image:
            gray = image.mode in ("1", "L", "LA", "I;16")
            return np.atleast_3d(np.asarray(image.convert("L" if gray else "RGB"), np.float64))
    except (OSError, ValueError) as error:
        raise unfit(f"{path}: cannot be read as an image: {getattr(error, 'strerror', None) or error}") from None
