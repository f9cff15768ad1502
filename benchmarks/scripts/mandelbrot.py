"""The Mandelbrot set by escape times, pixel by pixel in a double loop, and the area of the set.

Main loop: two nested loops of Python over the pixels, in a function called from `main()`.
"""

import numpy as np

WIDTH = 1440
HEIGHT = 1080
MAX_ITER = 250


def escape_time(c, max_iter):
    z = 0
    n = 0
    while abs(z) <= 2 and n < max_iter:
        z = z * z + c
        n += 1
    return n


def compute(xmin, xmax, ymin, ymax, width, height, max_iter):
    image = np.zeros((height, width))
    for row in range(height):
        for col in range(width):
            re = xmin + (xmax - xmin) * col / (width - 1)
            im = ymin + (ymax - ymin) * row / (height - 1)
            image[row, col] = escape_time(complex(re, im), max_iter)
    return image


def histogram_equalised(image, max_iter):
    """Spreads the colours evenly over the pixels outside."""
    counts = np.zeros(max_iter + 1)
    for row in image:
        for value in row:
            if value < max_iter:
                counts[int(value)] += 1
    cumulative = np.cumsum(counts) / counts.sum()
    result = np.zeros_like(image)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            if image[i, j] < max_iter:
                result[i, j] = cumulative[int(image[i, j])]
    return result


def draw(image, max_iter, rows=24, cols=64):
    shades = " .:-=+*%@#"
    h, w = image.shape
    for r in range(rows):
        line = ""
        for c in range(cols):
            value = image[r * h // rows, c * w // cols]
            line += "#" if value >= max_iter else shades[min(int(value / 4), 8)]
        print(line.rstrip())


def main():
    views = [
        ("whole", -2.2, 0.8, -1.2, 1.2),
        ("seahorses", -0.76, -0.72, 0.08, 0.11),
    ]
    for name, xmin, xmax, ymin, ymax in views:
        image = compute(xmin, xmax, ymin, ymax, WIDTH, HEIGHT, MAX_ITER)
        share = np.mean(image >= MAX_ITER)
        print(f"{name}: inside {share:.3f}, mean escape {image[image < MAX_ITER].mean():.2f}")
        if name == "whole":
            print(f"area: {share * (xmax - xmin) * (ymax - ymin):.2f}")
            draw(image, MAX_ITER)
        colours = histogram_equalised(image, MAX_ITER)
        print(f"mean colour: {colours.mean():.3f}")


if __name__ == "__main__":
    main()
