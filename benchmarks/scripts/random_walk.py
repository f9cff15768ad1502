"""Many random walkers in the plane: diffusion, first passages and returns to the origin.

Main loop: over batches of walkers at module level; a plot at the end if `plot` is switched on.
"""
# nothing to gain: drawing random numbers and cumulative sums of large arrays

import numpy as np

plot = False

np.random.seed(0)

n_batches = 25
walkers = 1000
steps = 2000
radius = 30.0

msd = np.zeros(steps)
passage_times = []
returned = 0
maxima = []

for batch in range(n_batches):
    directions = np.random.randint(0, 4, size=(walkers, steps))
    dx = np.array([1, 0, -1, 0])[directions]
    dy = np.array([0, 1, 0, -1])[directions]
    x = np.cumsum(dx, axis=1)
    y = np.cumsum(dy, axis=1)
    r2 = x**2 + y**2

    msd += r2.mean(axis=0)
    returned += np.count_nonzero((r2 == 0).any(axis=1))
    maxima.append(np.sqrt(r2.max(axis=1)))

    outside = r2 > radius**2
    reached = outside.any(axis=1)
    first = np.argmax(outside, axis=1)
    passage_times.extend(first[reached].tolist())

    if (batch + 1) % 5 == 0:
        print("batch %3d: %6d of %6d walkers have left the disc" % (batch + 1, len(passage_times), (batch + 1) * walkers))

msd /= n_batches
maxima = np.concatenate(maxima)
total = n_batches * walkers

t = np.arange(1, steps + 1)
slope = np.polyfit(np.log(t[10:]), np.log(msd[10:]), 1)[0]
print("exponent of the mean square displacement: %.3f" % slope)
print("diffusion constant: %.4f" % (msd[-1] / (4 * steps)))
print("share that returned to the origin: %.4f" % (returned / total))
print("median time to leave the disc: %d" % np.median(passage_times))
print("quantiles of the farthest distance:", np.round(np.quantile(maxima, [0.1, 0.5, 0.9]), 2))

if plot:
    import matplotlib.pyplot as plt

    plt.loglog(t, msd)
    plt.loglog(t, t, "--")
    plt.xlabel("steps")
    plt.ylabel("mean square displacement")
    plt.show()
