"""Kuramoto's coupled oscillators on a random network, from weak to strong coupling, with an adaptive step.

Main loop: `while t < t_end` with steps that are accepted or refused, in the function `integrate`.
"""

import numpy as np


def dtheta_dt(theta, omega, K, A, degree):
    """Pairwise differences of the phases, the whole matrix at once."""
    n = len(theta)
    difference = theta[None, :] - theta[:, None]
    return omega + K / degree * np.sum(A * np.sin(difference), axis=1)


def order_parameter(theta):
    return np.abs(np.mean(np.exp(1j * theta)))


def rkf45_step(f, y, h):
    """Runge, Kutta and Fehlberg: the step of fifth order and the error of fourth."""
    k1 = f(y)
    k2 = f(y + h * k1 / 4)
    k3 = f(y + h * (3 * k1 + 9 * k2) / 32)
    k4 = f(y + h * (1932 * k1 - 7200 * k2 + 7296 * k3) / 2197)
    k5 = f(y + h * (439 / 216 * k1 - 8 * k2 + 3680 / 513 * k3 - 845 / 4104 * k4))
    k6 = f(y + h * (-8 / 27 * k1 + 2 * k2 - 3544 / 2565 * k3 + 1859 / 4104 * k4 - 11 / 40 * k5))
    y4 = y + h * (25 / 216 * k1 + 1408 / 2565 * k3 + 2197 / 4104 * k4 - k5 / 5)
    y5 = y + h * (16 / 135 * k1 + 6656 / 12825 * k3 + 28561 / 56430 * k4 - 9 / 50 * k5 + 2 / 55 * k6)
    return y5, np.max(np.abs(y5 - y4))


def integrate(theta, omega, K, A, degree, t_end, tol=1e-5):
    t = 0.0
    h = 0.01
    accepted = 0
    refused = 0
    orders = []
    times = []
    while t < t_end:
        if t + h > t_end:
            h = t_end - t
        new, error = rkf45_step(lambda y: dtheta_dt(y, omega, K, A, degree), theta, h)
        if error <= tol:
            t += h
            theta = new
            accepted += 1
            times.append(t)
            orders.append(order_parameter(theta))
        else:
            refused += 1
        if error > 0:
            h *= min(4.0, max(0.2, 0.9 * (tol / error) ** 0.2))
        else:
            h *= 2
        if h < 1e-10:
            raise RuntimeError("the step became too small")
    return theta, np.array(times), np.array(orders), accepted, refused


def main():
    np.random.seed(0)
    n = 400
    omega = np.random.normal(0, 0.5, n)
    theta0 = 2 * np.pi * np.random.rand(n)
    A = (np.random.rand(n, n) < 0.3).astype(float)
    A = np.triu(A, 1)
    A = A + A.T
    degree = A.sum(axis=1)

    print("links per oscillator: %.1f" % degree.mean())
    couplings = [0.2, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0]
    final = []
    for K in couplings:
        theta, times, orders, accepted, refused = integrate(theta0.copy(), omega, K, A, degree, 25.0)
        late = orders[times > 15]
        final.append(late.mean())
        print("K = %.1f  order %.2f  some refused: %s" % (K, late.mean(), refused > 0))
    final = np.array(final)
    print("synchronised from K =", couplings[int(np.argmax(final > 0.6))])


if __name__ == "__main__":
    main()
