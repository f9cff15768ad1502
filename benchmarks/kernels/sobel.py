"""Edges of an image: how steep its brightness is, and which pixels are edges."""


def kernel(image, threshold):
    dx = image[:-2, 2:] + 2.0 * image[1:-1, 2:] + image[2:, 2:] - image[:-2, :-2] - 2.0 * image[1:-1, :-2] - image[2:, :-2]
    dy = image[2:, :-2] + 2.0 * image[2:, 1:-1] + image[2:, 2:] - image[:-2, :-2] - 2.0 * image[:-2, 1:-1] - image[:-2, 2:]
    steepness = (dx * dx + dy * dy) ** 0.5
    steepness /= steepness.max()
    return steepness, (steepness > threshold).sum()
