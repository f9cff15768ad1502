"""Logistic regression by gradient descent, with polynomial features and a path of penalties.

Main loop: over iterations in the method `fit` of a class, with the loss printed now and then.
"""

import numpy as np


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


class LogisticRegression:
    def __init__(self, lr=0.5, num_iter=4000, penalty=0.0, verbose=False):
        self.lr = lr
        self.num_iter = num_iter
        self.penalty = penalty
        self.verbose = verbose
        self.losses = []

    def loss(self, h, y):
        return (-y * np.log(h + 1e-12) - (1 - y) * np.log(1 - h + 1e-12)).mean()

    def fit(self, X, y):
        self.theta = np.zeros(X.shape[1])
        for i in range(self.num_iter):
            z = np.dot(X, self.theta)
            h = sigmoid(z)
            gradient = np.dot(X.T, (h - y)) / y.size
            gradient[1:] += self.penalty * self.theta[1:]
            self.theta -= self.lr * gradient

            h = sigmoid(np.dot(X, self.theta))
            self.losses.append(self.loss(h, y))
            if self.verbose and i % 500 == 0:
                print(f"   iteration {i}: loss {self.losses[-1]:.4f}")
        return self

    def predict(self, X):
        return sigmoid(np.dot(X, self.theta)) >= 0.5


def features(x, degree):
    columns = [np.ones(len(x))]
    for i in range(degree + 1):
        for j in range(degree + 1 - i):
            if i + j > 0:
                columns.append(x[:, 0] ** i * x[:, 1] ** j)
    return np.stack(columns, axis=1)


def main():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (6000, 2))
    radius = x[:, 0] ** 2 + 1.5 * x[:, 1] ** 2 + 0.3 * x[:, 0] * x[:, 1]
    y = (radius + 0.15 * rng.standard_normal(len(x)) < 0.5).astype(float)
    train, test = x[:4000], x[4000:]

    for degree in (1, 2, 4):
        model = LogisticRegression(verbose=degree == 4)
        model.fit(features(train, degree), y[:4000])
        right = np.mean(model.predict(features(test, degree)) == y[4000:])
        print(f"degree {degree}: loss {model.losses[-1]:.3f}, right {right:.3f}")

    for penalty in (0.0001, 0.01, 0.1):
        model = LogisticRegression(penalty=penalty, num_iter=2000)
        model.fit(features(train, 3), y[:4000])
        print(f"penalty {penalty}: loss {model.losses[-1]:.3f}, largest weight {np.abs(model.theta).max():.2f}")


if __name__ == "__main__":
    main()
