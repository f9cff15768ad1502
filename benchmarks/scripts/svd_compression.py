"""Compresses a synthetic picture with the singular value decomposition, and looks at random matrices.

Main loop: a loop over ranks in `main()`, after one large `np.linalg.svd`.
"""
# nothing to gain: LAPACK's decompositions take nearly all the time

import numpy as np


def make_picture(n, rng):
    """Some stripes, discs and noise."""
    y, x = np.mgrid[0:n, 0:n] / n
    picture = 0.5 + 0.25 * np.sin(20 * x) * np.cos(13 * y * x)
    for _ in range(30):
        cx, cy = rng.random(2)
        r = 0.02 + 0.08 * rng.random()
        picture[(x - cx) ** 2 + (y - cy) ** 2 < r**2] += rng.random() - 0.5
    picture += 0.02 * rng.standard_normal((n, n))
    return picture


def psnr(a, b):
    mse = np.mean((a - b) ** 2)
    return 10 * np.log10((a.max() - a.min()) ** 2 / mse)


def report(picture, u, s, vt):
    n = len(s)
    total = np.sum(s**2)
    print("rank   stored   energy    psnr")
    for rank in [1, 2, 5, 10, 20, 50, 100, 200]:
        approximation = (u[:, :rank] * s[:rank]) @ vt[:rank]
        stored = rank * (2 * n + 1) / n**2
        energy = np.sum(s[:rank] ** 2) / total
        print(f"{rank:4d}  {100 * stored:6.2f} %  {energy:.5f}  {psnr(picture, approximation):6.2f}")


def random_matrix_statistics(rng, n=260, count=6):
    """The spectra of random symmetric matrices against the semicircle law."""
    inside = []
    for _ in range(count):
        a = rng.standard_normal((n, n))
        eigenvalues = np.linalg.eigvalsh((a + a.T) / np.sqrt(2 * n))
        inside.append(np.mean(np.abs(eigenvalues) < 1.0))
    return np.mean(inside)


def main():
    rng = np.random.default_rng(0)
    n = 1500
    picture = make_picture(n, rng)
    print(f"picture: {n} x {n}, mean {picture.mean():.4f}")

    u, s, vt = np.linalg.svd(picture)
    print("largest singular values:", np.round(s[:5], 2))
    report(picture, u, s, vt)

    effective = np.exp(-np.sum(s / s.sum() * np.log(s / s.sum())))
    print(f"effective rank: {effective:.1f}")
    print(f"share of eigenvalues inside 1: {random_matrix_statistics(rng):.3f} (law: 0.609)")


if __name__ == "__main__":
    main()
