"""A neural network from scratch learns which of ten noisy signals it sees; prints the loss after each epoch.

Main loop: over epochs and mini-batches in `main()`; layers, optimiser and data are modules beside this one.
"""
# nothing to gain: matrix products of BLAS take most of the time

import numpy as np

from data import batches, make_signals
from layers import Dense, Network, ReLU, SoftmaxCrossEntropy
from optimiser import Momentum


def accuracy(network, x, labels):
    return np.mean(np.argmax(network.forward(x), axis=1) == labels)


def confusion(network, x, labels, classes):
    predicted = np.argmax(network.forward(x), axis=1)
    table = np.zeros((classes, classes), dtype=int)
    for true, guess in zip(labels, predicted):
        table[true, guess] += 1
    return table


def main():
    rng = np.random.default_rng(0)
    x, labels = make_signals(12000, 256, rng)
    x_test, labels_test = make_signals(2000, 256, rng)
    network = Network(
        [
            Dense(256, 768, rng),
            ReLU(),
            Dense(768, 512, rng),
            ReLU(),
            Dense(512, 10, rng),
        ]
    )
    loss = SoftmaxCrossEntropy()
    optimiser = Momentum(network.parameters(), rate=0.02, momentum=0.9)

    for epoch in range(3):
        total = 0.0
        count = 0
        for xb, yb in batches(x, labels, 400, rng):
            scores = network.forward(xb)
            total += loss.forward(scores, yb)
            network.backward(loss.backward())
            optimiser.step(network.gradients())
            count += 1
        print(f"epoch {epoch + 1}: loss {total / count:.3f}, test accuracy {accuracy(network, x_test, labels_test):.2f}")

    table = confusion(network, x_test, labels_test, 10)
    print("right per class above 90 %:", int(np.sum(np.diag(table) / table.sum(axis=1) > 0.9)))


if __name__ == "__main__":
    main()
