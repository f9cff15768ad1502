"""CRC-16 of a message, bit by bit."""

import numpy as np

SIZE = 30000
SMALL = 30


def initialise(size):
    rng = np.random.default_rng(26)
    return rng.integers(0, 256, size).astype(np.uint8), 0x8408


def kernel(data, polynomial):
    crc = 0xFFFF
    for i in range(data.shape[0]):
        byte = data[i] & 0xFF
        for _ in range(8):
            if (crc & 1) ^ (byte & 1):
                crc = (crc >> 1) ^ polynomial
            else:
                crc = crc >> 1
            byte = byte >> 1
    return (~crc) & 0xFFFF
