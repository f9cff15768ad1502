"""K-means clustering of points in a few dimensions from scratch, with restarts and the elbow.

Main loop: `for` over iterations with a `break` at convergence, in a function called from `main()`.
"""

import numpy as np


def make_blobs(n, centres, spread, rng):
    which = rng.integers(0, len(centres), n)
    return centres[which] + spread * rng.standard_normal((n, centres.shape[1])), which


def assign(points, centroids):
    distances = np.zeros((len(points), len(centroids)))
    for k in range(len(centroids)):
        distances[:, k] = np.sqrt(((points - centroids[k]) ** 2).sum(axis=1))
    return np.argmin(distances, axis=1), distances.min(axis=1)


def update(points, labels, k):
    centroids = np.zeros((k, points.shape[1]))
    for i in range(k):
        members = points[labels == i]
        if len(members) > 0:
            centroids[i] = members.mean(axis=0)
    return centroids


def kmeans(points, k, rng, max_iter=60):
    centroids = points[rng.choice(len(points), k, replace=False)]
    for it in range(max_iter):
        labels, nearest = assign(points, centroids)
        new = update(points, labels, k)
        shift = np.abs(new - centroids).max()
        centroids = new
        if shift < 1e-6:
            break
    labels, nearest = assign(points, centroids)
    return centroids, labels, (nearest**2).sum(), it


def purity(labels, truth, k):
    total = 0
    for i in range(k):
        members = truth[labels == i]
        if len(members):
            total += np.bincount(members).max()
    return total / len(truth)


def main():
    rng = np.random.default_rng(0)
    true_centres = rng.uniform(-10, 10, (6, 4))
    points, truth = make_blobs(30000, true_centres, 1.2, rng)

    for k in (2, 4, 6, 8):
        best = None
        for _ in range(3):
            result = kmeans(points, k, rng)
            if best is None or result[2] < best[2]:
                best = result
        centroids, labels, inertia, iterations = best
        print("k = %d  inertia %.0f  purity %.3f" % (k, inertia, purity(labels, truth, k)))
        if k == 6:
            order = np.argsort(centroids[:, 0])
            print(np.round(centroids[order], 1))
            print("sizes:", np.bincount(labels)[order])


if __name__ == "__main__":
    main()
