"""The bifurcation diagram and the Lyapunov exponent of the logistic map.

Main loop: at module level over the parameter's values at once, then a scalar loop in a function.
"""

import numpy as np


def logistic(r, x):
    return r * x * (1 - x)


def period(r, settle=600, longest=64, tol=1e-6):
    """The period of the orbit that the map settles into, 0 if none is found."""
    x = 0.5
    for _ in range(settle):
        x = logistic(r, x)
    start = x
    for k in range(1, longest + 1):
        x = logistic(r, x)
        if abs(x - start) < tol:
            return k
    return 0


n = 20000
r = np.linspace(2.5, 4.0, n)
iterations = 16000
last = 300

x = 1e-5 * np.ones(n)
lyapunov = np.zeros(n)
histogram = np.zeros((50, n))
columns = np.arange(n)

for i in range(iterations):
    x = logistic(r, x)
    if i > 100:
        lyapunov += np.log(abs(r - 2 * r * x) + 1e-12)
    if i >= (iterations - last):
        bins = np.minimum((x * 50).astype(int), 49)
        histogram[bins, columns] += 1

lyapunov /= iterations - 101

print("parameters:", n, " chaotic share: %.2f" % np.mean(lyapunov > 0.02))
for low, high in [(2.5, 3.0), (3.0, 3.45), (3.45, 3.57), (3.57, 4.0)]:
    chosen = (r >= low) & (r < high)
    print("r in [%.2f, %.2f): mean exponent %6.2f" % (low, high, lyapunov[chosen].mean()))

filled = (histogram > 0).sum(axis=0)
print("bins visited at 2.8, 3.2, 3.5:", [int(filled[np.argmin(abs(r - v))]) for v in (2.8, 3.2, 3.5)])

for value in np.arange(2.9, 3.56, 0.05):
    print("r = %.2f  period %d" % (value, period(value)))

periods = {}
for value in np.linspace(3.05, 3.54, 1500):
    p = period(value)
    periods[p] = periods.get(p, 0) + 1
print("periods found:", [p for p in sorted(periods) if periods[p] > 20])
