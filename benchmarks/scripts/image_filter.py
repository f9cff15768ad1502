"""Filters a noisy picture with nested loops: median, bilateral filter, edges, and labels for the spots.

Main loop: loops over rows and columns of the picture, in functions called at module level.
"""

import numpy as np


def test_picture(h, w):
    np.random.seed(0)
    y, x = np.mgrid[0:h, 0:w]
    picture = 80 + 40 * x / w
    for cy, cx, r, value in [(40, 50, 22, 200), (90, 140, 30, 30), (120, 40, 15, 230), (30, 150, 12, 10)]:
        picture[(y - cy) ** 2 + (x - cx) ** 2 < r * r] = value
    picture += np.random.normal(0, 8, picture.shape)
    salt = np.random.rand(h, w)
    picture[salt < 0.03] = 0
    picture[salt > 0.97] = 255
    return np.clip(picture, 0, 255)


def median_filter(image, radius):
    h, w = image.shape
    result = np.zeros_like(image)
    for i in range(h):
        for j in range(w):
            window = image[max(i - radius, 0) : i + radius + 1, max(j - radius, 0) : j + radius + 1]
            result[i, j] = np.median(window)
    return result


def bilateral_filter(image, radius, sigma_space, sigma_value):
    h, w = image.shape
    result = image.copy()
    for i in range(radius, h - radius):
        for j in range(radius, w - radius):
            total = 0.0
            norm = 0.0
            for di in range(-radius, radius + 1):
                for dj in range(-radius, radius + 1):
                    value = image[i + di, j + dj]
                    weight = np.exp(-(di * di + dj * dj) / (2 * sigma_space**2)) * np.exp(
                        -((value - image[i, j]) ** 2) / (2 * sigma_value**2)
                    )
                    total += weight * value
                    norm += weight
            result[i, j] = total / norm
    return result


def convolve(image, kernel):
    h, w = image.shape
    kh, kw = kernel.shape
    result = np.zeros((h, w))
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            result[i, j] = np.sum(image[i - 1 : i + 2, j - 1 : j + 2] * kernel)
    return result


def label_spots(mask):
    """Connected regions, by flooding from each pixel that has no label."""
    labels = np.zeros(mask.shape, dtype=int)
    current = 0
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            if not mask[i, j] or labels[i, j]:
                continue
            current += 1
            stack = [(i, j)]
            while stack:
                a, b = stack.pop()
                if a < 0 or b < 0 or a >= mask.shape[0] or b >= mask.shape[1]:
                    continue
                if not mask[a, b] or labels[a, b]:
                    continue
                labels[a, b] = current
                stack += [(a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1)]
    return labels, current


noisy = test_picture(240, 320)
print("noisy: mean %.1f, deviation %.1f" % (noisy.mean(), noisy.std()))

clean = median_filter(noisy, 2)
print("median: mean %.1f, deviation %.1f" % (clean.mean(), clean.std()))

smooth = bilateral_filter(clean, 3, 2.0, 25.0)
print("bilateral: mean %.1f, deviation %.1f" % (smooth.mean(), smooth.std()))

sobel_x = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
gx = convolve(smooth, sobel_x)
gy = convolve(smooth, sobel_x.T)
edges = np.sqrt(gx**2 + gy**2)
print("edges: strongest %.0f, share %.3f" % (edges.max(), np.mean(edges > 150)))

labels, count = label_spots((smooth > 160) | (smooth < 60))
sizes = [int((labels == k).sum()) for k in range(1, count + 1)]
print("spots:", sum(size > 100 for size in sizes), "of sizes about", sorted(size // 100 * 100 for size in sizes if size > 100))
