#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the demo model: a small convolutional network that reads handwritten digits.

    train.py            train, report, write digits.safetensors and test.safetensors here
    train.py --check    read both files again and print the accuracy; exit 1 below 98 %,
                        77 (skipped) without numpy

The data are the 1797 digits of 8x8 pixels, values 0..16, that come with scikit-learn. A fifth of
each class is held out, drawn before training and never looked at until the weights are final.
Everything is drawn from one seed; on another processor sums may round differently, so that the
weights are alike but not the same bits. Needs python3-numpy, and for training python3-sklearn.

The network is the one in digits.net; names of weights are names of tensors there.
"""

import json
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one thread: the same sums in the same order
try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)

SEED = 1797
EPOCHS = 40
BATCH = 64
RATE = 0.01  # of Adam, falling to zero along half a cosine
DECAY = 1e-4
EPSILON = 1e-5  # of batch norm; digits.net says the same
ACCURACY_NEEDED = 0.98

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL_FILE = os.path.join(HERE, "digits.safetensors")
TEST_FILE = os.path.join(HERE, "test.safetensors")


# ---- Layers: forward keeps what backward needs; `weights` and `grads` go by tensor name ----


class Layer:
    def __init__(self):
        self.weights, self.grads = {}, {}


class Conv(Layer):
    """3x3 or 4x4 cross-correlation as a matrix product; weights are [out, in, height, width]."""

    def __init__(self, name, rng, inputs, outputs, size, padding):
        super().__init__()
        self.w, self.b = name + "_w", name + "_b"
        self.size, self.padding = size, padding
        shape = (outputs, inputs, size, size)
        spread = np.sqrt(2 / (inputs * size * size))
        self.weights[self.w] = rng.normal(0, spread, shape).astype(np.float32)
        self.weights[self.b] = rng.normal(0, 0.05, outputs).astype(np.float32)

    def forward(self, x, training):
        w, k, p = self.weights[self.w], self.size, self.padding
        x = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
        windows = np.lib.stride_tricks.sliding_window_view(x, (k, k), (2, 3))
        n, c, height, width = windows.shape[:4]
        columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, c * k * k)
        if training:
            self.padded_shape, self.columns = x.shape, columns
        y = columns @ w.reshape(len(w), -1).T + self.weights[self.b]
        return y.reshape(n, height, width, len(w)).transpose(0, 3, 1, 2)

    def backward(self, dy):
        w, k, p = self.weights[self.w], self.size, self.padding
        n, outputs, height, width = dy.shape
        rows = dy.transpose(0, 2, 3, 1).reshape(-1, outputs)
        self.grads[self.w] = (rows.T @ self.columns).reshape(w.shape)
        self.grads[self.b] = rows.sum(axis=0)
        windows = (rows @ w.reshape(outputs, -1)).reshape(n, height, width, -1, k, k)
        dx = np.zeros(self.padded_shape, np.float32)
        for i in range(k):
            for j in range(k):
                dx[:, :, i : i + height, j : j + width] += windows[..., i, j].transpose(0, 3, 1, 2)
        return dx[:, :, p : dx.shape[2] - p, p : dx.shape[3] - p]


class BatchNorm(Layer):
    """Normalises each channel: by the batch in training, by running mean and variance after."""

    def __init__(self, name, channels):
        super().__init__()
        self.scale, self.offset = name + "_scale", name + "_offset"
        self.mean, self.var = name + "_mean", name + "_var"
        for key, value in ((self.scale, 1), (self.offset, 0), (self.mean, 0), (self.var, 1)):
            self.weights[key] = np.full(channels, value, np.float32)

    def forward(self, x, training):
        mean, var = self.weights[self.mean], self.weights[self.var]
        if training:
            mean, var = x.mean(axis=(0, 2, 3)), x.var(axis=(0, 2, 3))
            self.weights[self.mean] += 0.1 * (mean - self.weights[self.mean])
            self.weights[self.var] += 0.1 * (var - self.weights[self.var])
        self.inverse = 1 / np.sqrt(var + np.float32(EPSILON))
        normed = (x - per_channel(mean)) * per_channel(self.inverse)
        if training:
            self.normed = normed
        return normed * per_channel(self.weights[self.scale]) + per_channel(
            self.weights[self.offset])

    def backward(self, dy):
        self.grads[self.scale] = (dy * self.normed).sum(axis=(0, 2, 3))
        self.grads[self.offset] = dy.sum(axis=(0, 2, 3))
        count = dy.size // dy.shape[1]
        centred = dy - per_channel(self.grads[self.offset] / count)
        centred -= self.normed * per_channel(self.grads[self.scale] / count)
        return centred * per_channel(self.weights[self.scale] * self.inverse)


class Relu(Layer):
    def forward(self, x, training):
        self.positive = x > 0
        return np.maximum(x, 0)

    def backward(self, dy):
        return dy * self.positive


class MaxPool(Layer):
    """The largest of each 2x2 pixels; equal ones share the gradient."""

    def forward(self, x, training):
        n, c, height, width = x.shape
        blocks = x.reshape(n, c, height // 2, 2, width // 2, 2)
        y = blocks.max(axis=(3, 5), keepdims=True)
        largest = (blocks == y).astype(np.float32)
        self.share = largest / largest.sum(axis=(3, 5), keepdims=True)
        return y[:, :, :, 0, :, 0]

    def backward(self, dy):
        n, c, height, width = dy.shape
        return (self.share * dy[:, :, :, None, :, None]).reshape(n, c, 2 * height, 2 * width)


def per_channel(vector):
    return vector[:, None, None]


# ---- The network ----


def build_network(rng):
    return [
        Conv("conv1", rng, 1, 16, 3, 1), BatchNorm("bn1", 16), Relu(),
        Conv("conv2", rng, 16, 32, 3, 1), BatchNorm("bn2", 32), Relu(),
        MaxPool(),
        Conv("conv3", rng, 32, 32, 3, 1), BatchNorm("bn3", 32), Relu(),
        Conv("class", rng, 32, 10, 4, 0),
    ]


def forward(network, x, training=False):
    for layer in network:
        x = layer.forward(x, training)
    return softmax(x.reshape(len(x), 10))


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def all_weights(network):
    return {name: value for layer in network for name, value in layer.weights.items()}


# ---- Training ----


def shift(images, rng):
    """Moves each image by at most one pixel to each side; zeros come in."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moved = np.empty_like(images)
    for i, (dy, dx) in enumerate(rng.integers(0, 3, (len(images), 2))):
        moved[i] = padded[i, :, dy : dy + 8, dx : dx + 8]
    return moved


class Adam:
    def __init__(self):
        self.step_count, self.moments = 0, {}

    def step(self, network, rate):
        self.step_count += 1
        for layer in network:
            for name, grad in layer.grads.items():
                weight = layer.weights[name]
                m, v = self.moments.setdefault(name, [np.zeros_like(grad), np.zeros_like(grad)])
                m += 0.1 * (grad - m)
                v += 0.001 * (grad * grad - v)
                fast = m / (1 - 0.9**self.step_count)
                wide = np.sqrt(v / (1 - 0.999**self.step_count)) + 1e-8
                decay = DECAY * weight if weight.ndim == 4 else 0
                weight -= (rate * (fast / wide + decay)).astype(np.float32)


def train(network, images, labels, rng):
    adam, step, step_count = Adam(), 0, EPOCHS * (len(images) // BATCH)
    for epoch in range(EPOCHS):
        order, loss = rng.permutation(len(images)), 0
        for first in range(0, len(images) - BATCH + 1, BATCH):
            batch = order[first : first + BATCH]
            prob = forward(network, shift(images[batch], rng), training=True)
            picked = prob[np.arange(BATCH), labels[batch]]
            loss -= np.log(np.maximum(picked, 1e-12)).mean()
            grad = prob.copy()
            grad[np.arange(BATCH), labels[batch]] -= 1
            grad = (grad / BATCH).reshape(BATCH, 10, 1, 1)
            for layer in reversed(network):
                grad = layer.backward(grad)
            adam.step(network, RATE / 2 * (1 + np.cos(np.pi * step / step_count)))
            step += 1
        print(f"epoch {epoch + 1:2}: loss {loss / (len(images) // BATCH):.4f}", flush=True)


def held_out(labels, rng):
    """True for a fifth of each class."""
    chosen = np.zeros(len(labels), bool)
    for digit in range(10):
        members = rng.permutation(np.flatnonzero(labels == digit))
        chosen[members[: round(len(members) / 5)]] = True
    return chosen


# ---- Files: safetensors is a length, a JSON header, and the tensors' bytes without gaps ----

DTYPES = {"F32": np.float32, "I32": np.int32, "U8": np.uint8}


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, value in tensors.items():
        dtype = next(key for key, kind in DTYPES.items() if value.dtype == kind)
        header[name] = {"dtype": dtype, "shape": list(value.shape),
                        "data_offsets": [offset, offset + value.nbytes]}
        offset += value.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)  # the data start at a multiple of 64
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for value in tensors.values():
            file.write(np.ascontiguousarray(value).tobytes())


def read_safetensors(path):
    with open(path, "rb") as file:
        text = file.read(int.from_bytes(file.read(8), "little"))
        data = file.read()
    tensors = {}
    for name, entry in json.loads(text).items():
        first, last = entry["data_offsets"]
        values = np.frombuffer(data[first:last], DTYPES[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"])
    return tensors


# ---- The two commands ----


def scaled(pixels):
    return pixels.astype(np.float32) / 16


def check():
    """Accuracy of the stored weights on the stored images; also compares stored probabilities."""
    stored, test = read_safetensors(MODEL_FILE), read_safetensors(TEST_FILE)
    network = build_network(np.random.default_rng(0))
    for layer in network:
        for name in layer.weights:
            assert stored[name].shape == layer.weights[name].shape, name
            layer.weights[name] = stored[name]
    prob = forward(network, scaled(test["images"]))
    right = int((prob.argmax(axis=1) == test["labels"]).sum())
    gap = float(np.abs(prob - test["prob"]).max())
    accuracy = right / len(prob)
    print(f"held out: {right} of {len(prob)} right, accuracy {100 * accuracy:.2f} %, "
          f"probabilities within {gap:.1e} of the stored ones")
    return accuracy >= ACCURACY_NEEDED and gap < 1e-4


def main():
    if sys.argv[1:] == ["--check"]:
        return 0 if check() else 1
    if sys.argv[1:]:
        print(__doc__)
        return 2

    from sklearn.datasets import load_digits

    data = load_digits()
    rng = np.random.default_rng(SEED)
    pixels = data.images.astype(np.uint8)[:, None]
    labels = data.target.astype(np.int32)
    test = held_out(labels, rng)

    network = build_network(rng)
    train(network, scaled(pixels[~test]), labels[~test], rng)

    write_safetensors(MODEL_FILE, all_weights(network))
    write_safetensors(TEST_FILE, {
        "prob": forward(network, scaled(pixels[test])).astype(np.float32),
        "labels": labels[test],
        "images": pixels[test],
    })
    return 0 if check() else 1


if __name__ == "__main__":
    sys.exit(main())
