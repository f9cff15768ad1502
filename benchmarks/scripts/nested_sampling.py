"""Nested sampling of the evidence for one or two spectral lines, with Metropolis walks for new points.

Main loop: `while` in the function `nested_sampling`, over live points kept in a list of dicts.
"""
# nothing to gain: bookkeeping in lists and dicts, with a scalar likelihood of `math`

import math

import numpy as np


class Model:
    """Some lines of Gaussian shape on a constant background."""

    def __init__(self, n_lines, x, y, noise):
        self.n_lines = n_lines
        self.data = list(zip(x.tolist(), y.tolist()))
        self.noise = noise
        self.calls = 0

    @property
    def names(self):
        names = ["background"]
        for i in range(self.n_lines):
            names += [f"height{i}", f"place{i}"]
        return names

    def transform(self, unit):
        """From the unit cube to the parameters."""
        values = {}
        for name, u in unit.items():
            if name.startswith("place"):
                values[name] = 10 * u
            elif name.startswith("height"):
                values[name] = 5 * u
            else:
                values[name] = 2 * u - 1
        return values

    def log_likelihood(self, unit):
        self.calls += 1
        p = self.transform(unit)
        lines = [(p[f"height{i}"], p[f"place{i}"]) for i in range(self.n_lines)]
        total = 0.0
        for x, y in self.data:
            model = p["background"]
            for height, place in lines:
                model += height * math.exp(-((x - place) ** 2) / 0.5)
            total -= 0.5 * ((y - model) / self.noise) ** 2
        return total


def log_add(a, b):
    if a < b:
        a, b = b, a
    return a + math.log1p(math.exp(b - a))


def explore(model, start, threshold, scale, rng, steps=12):
    """A Metropolis walk that stays above the threshold."""
    point = dict(start["unit"])
    value = start["logl"]
    accepted = 0
    for _ in range(steps):
        trial = {name: (u + scale * rng.standard_normal()) % 1.0 for name, u in point.items()}
        logl = model.log_likelihood(trial)
        if logl > threshold:
            point, value = trial, logl
            accepted += 1
    return {"unit": point, "logl": value}, accepted / steps


def nested_sampling(model, rng, n_live=160, tolerance=0.1):
    live = []
    for _ in range(n_live):
        unit = {name: rng.random() for name in model.names}
        live.append({"unit": unit, "logl": model.log_likelihood(unit)})

    log_z = -1e300
    log_width = math.log(1 - math.exp(-1.0 / n_live))
    scale = 0.2
    samples = []
    iteration = 0
    while True:
        worst = min(range(n_live), key=lambda i: live[i]["logl"])
        log_weight = log_width + live[worst]["logl"]
        log_z = log_add(log_z, log_weight)
        samples.append((log_weight, live[worst]))

        other = worst
        while other == worst:
            other = int(rng.integers(n_live))
        live[worst], rate = explore(model, live[other], live[worst]["logl"], scale, rng)
        scale = min(0.5, max(1e-4, scale * (1.05 if rate > 0.4 else 0.95)))

        log_width -= 1.0 / n_live
        iteration += 1
        if iteration % 500 == 0:
            print(f"   iteration {iteration}: log Z = {log_z:.1f}")
        best = max(point["logl"] for point in live)
        if best - iteration / n_live < log_z + math.log(tolerance):
            break
    return log_z, samples


def posterior_mean(model, log_z, samples):
    means = {name: 0.0 for name in model.names}
    total = 0.0
    for log_weight, point in samples:
        w = math.exp(log_weight - log_z)
        total += w
        for name, value in model.transform(point["unit"]).items():
            means[name] += w * value
    return {name: value / total for name, value in means.items()}


def main():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 10, 50)
    noise = 0.5
    y = 0.3 + 3 * np.exp(-((x - 3) ** 2) / 0.5) + 2 * np.exp(-((x - 7.2) ** 2) / 0.5) + noise * rng.standard_normal(50)

    evidence = {}
    for n_lines in (1, 2):
        model = Model(n_lines, x, y, noise)
        print(f"{n_lines} line(s)")
        log_z, samples = nested_sampling(model, rng)
        evidence[n_lines] = log_z
        means = posterior_mean(model, log_z, samples)
        print(f"   log Z = {log_z:.1f} after {model.calls} likelihoods")
        print("   " + ", ".join(f"{name} = {value:.1f}" for name, value in means.items()))
    print("two lines are favoured:", evidence[2] > evidence[1])


if __name__ == "__main__":
    main()
