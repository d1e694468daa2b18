#!/usr/bin/env python3
"""Trains the digit classifier models/digits/model.onnx on the digits data that scikit-learn ships. Seeded; numpy only.

    python3 models/digits/train.py [--epochs N]

The data: 1797 images of 8x8 pixels in 17 grey levels (UCI Optical Recognition of Handwritten Digits), of which the last 360 are held out.
They are scaled to 28x28, the size of MNIST, by bilinear interpolation; for training, moved about. The network:

    image [N,1,28,28] - conv 3x3, 8 - batch norm - relu - max pool 2 - conv 3x3, 16 - batch norm - relu - max pool 2 - gemm - softmax [N,10]

Writes model.onnx, sample.npy (one held-out image), test_data_set_0 (all held-out images with the probabilities that ONNX Runtime gives,
and their labels in labels.npy) and test_data_set_1 (the first three, another batch size), and prints the accuracy on the held-out images.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import case  # noqa: E402

HELD_OUT = 360


def upscale(images, size):
    """[N,8,8] to [N,1,size,size], bilinear with half-pixel centres, values 0 to 1."""
    n, h, _ = images.shape
    at = np.clip((np.arange(size) + 0.5) * h / size - 0.5, 0, h - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, h - 1)
    weight = at - low
    rows = images[:, low] * (1 - weight)[None, :, None] + images[:, high] * weight[None, :, None]
    out = rows[:, :, low] * (1 - weight) + rows[:, :, high] * weight
    return (out / 16).astype(np.float32).reshape(n, 1, size, size)


def move(images, rng):
    """Each image shifted by up to 2 pixels across and down: 1437 images alone show too few of the places a digit may have."""
    size = images.shape[-1]
    padded = np.pad(images, ((0, 0), (0, 0), (2, 2), (2, 2)))
    corners = rng.integers(0, 5, (len(images), 2))
    return np.stack([p[:, y : y + size, x : x + size] for p, (y, x) in zip(padded, corners)])


class Conv:
    """3x3, padding 1."""

    def __init__(self, rng, inputs, outputs):
        self.params = {"w": rng.normal(0, np.sqrt(2 / (9 * inputs)), (outputs, inputs, 3, 3)).astype(np.float32)}

    def forward(self, x, training):
        self.windows = sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), axis=(2, 3))  # [N,C,H,W,3,3]
        return np.tensordot(self.windows, self.params["w"], axes=([1, 4, 5], [1, 2, 3])).transpose(0, 3, 1, 2)

    def backward(self, grad):
        self.grads = {"w": np.tensordot(grad, self.windows, axes=([0, 2, 3], [0, 2, 3]))}
        padded = sliding_window_view(np.pad(grad, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), axis=(2, 3))
        return np.tensordot(padded, self.params["w"][:, :, ::-1, ::-1], axes=([1, 4, 5], [0, 2, 3])).transpose(0, 3, 1, 2)


class BatchNorm:
    epsilon = 1e-5

    def __init__(self, channels):
        self.params = {"scale": np.ones(channels, np.float32), "shift": np.zeros(channels, np.float32)}
        self.mean, self.var = np.zeros(channels, np.float32), np.ones(channels, np.float32)

    def forward(self, x, training):
        if training:
            mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
            self.mean, self.var = 0.9 * self.mean + 0.1 * mean, 0.9 * self.var + 0.1 * var
        else:
            mean, var = self.mean, self.var
        self.inverse = 1 / np.sqrt(var + self.epsilon)
        self.normal = (x - mean[:, None, None]) * self.inverse[:, None, None]
        return self.normal * self.params["scale"][:, None, None] + self.params["shift"][:, None, None]

    def backward(self, grad):
        self.grads = {"scale": (grad * self.normal).sum((0, 2, 3)), "shift": grad.sum((0, 2, 3))}
        count = grad.size // grad.shape[1]
        centred = grad - (self.grads["shift"] / count)[:, None, None] - self.normal * (self.grads["scale"] / count)[:, None, None]
        return centred * (self.params["scale"] * self.inverse)[:, None, None]


class Relu:
    params = {}

    def forward(self, x, training):
        self.kept = x > 0
        return x * self.kept

    def backward(self, grad):
        return grad * self.kept


class MaxPool:
    params = {}

    def forward(self, x, training):
        n, c, h, w = x.shape
        blocks = x.reshape(n, c, h // 2, 2, w // 2, 2)
        out = blocks.max((3, 5))
        self.mask = blocks == out[:, :, :, None, :, None]
        self.shape = x.shape
        return out

    def backward(self, grad):
        return (self.mask * grad[:, :, :, None, :, None]).reshape(self.shape)


class Linear:
    def __init__(self, rng, inputs, outputs):
        self.params = {"w": rng.normal(0, np.sqrt(1 / inputs), (outputs, inputs)).astype(np.float32), "b": np.zeros(outputs, np.float32)}

    def forward(self, x, training):
        self.shape = x.shape
        self.x = x.reshape(len(x), -1)
        return self.x @ self.params["w"].T + self.params["b"]

    def backward(self, grad):
        self.grads = {"w": grad.T @ self.x, "b": grad.sum(0)}
        return (grad @ self.params["w"]).reshape(self.shape)


def train(x, y, epochs):
    rng = np.random.default_rng(0)
    layers = [Conv(rng, 1, 8), BatchNorm(8), Relu(), MaxPool(), Conv(rng, 8, 16), BatchNorm(16), Relu(), MaxPool(), Linear(rng, 16 * 49, 10)]
    velocity = [{name: np.zeros_like(p) for name, p in layer.params.items()} for layer in layers]
    for epoch in range(epochs):
        rate = 0.05 * (1 + np.cos(np.pi * epoch / epochs)) / 2
        for batch in np.array_split(rng.permutation(len(x)), len(x) // 32):
            out = move(x[batch], rng)
            for layer in layers:
                out = layer.forward(out, True)
            exponent = np.exp(out - out.max(1, keepdims=True))
            grad = exponent / exponent.sum(1, keepdims=True)
            grad[np.arange(len(batch)), y[batch]] -= 1
            grad = (grad / len(batch)).astype(np.float32)
            for layer in reversed(layers):
                grad = layer.backward(grad)
            for layer, speed in zip(layers, velocity):
                for name, value in layer.params.items():
                    speed[name] = 0.9 * speed[name] + layer.grads[name] + 1e-4 * value
                    value -= rate * speed[name]
        print(f"epoch {epoch + 1}/{epochs}", flush=True)
    return layers


def export(layers, path):
    conv1, bn1, _, _, conv2, bn2, _, _, linear = layers
    weights = {"conv1.weight": conv1.params["w"], "conv2.weight": conv2.params["w"], "fc.weight": linear.params["w"], "fc.bias": linear.params["b"]}
    for name, bn in (("bn1", bn1), ("bn2", bn2)):
        weights |= {f"{name}.scale": bn.params["scale"], f"{name}.shift": bn.params["shift"], f"{name}.mean": bn.mean, f"{name}.var": bn.var}

    def block(index, source):
        bn = [f"bn{index}.{part}" for part in ("scale", "shift", "mean", "var")]
        return [
            helper.make_node("Conv", [source, f"conv{index}.weight"], [f"conv{index}"], f"conv{index}", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
            helper.make_node("BatchNormalization", [f"conv{index}", *bn], [f"bn{index}"], f"bn{index}", epsilon=BatchNorm.epsilon),
            helper.make_node("Relu", [f"bn{index}"], [f"relu{index}"], f"relu{index}"),
            helper.make_node("MaxPool", [f"relu{index}"], [f"pool{index}"], f"pool{index}", kernel_shape=[2, 2], strides=[2, 2]),
        ]

    nodes = block(1, "image") + block(2, "pool1") + [
        helper.make_node("Flatten", ["pool2"], ["features"], "flatten", axis=1),
        helper.make_node("Gemm", ["features", "fc.weight", "fc.bias"], ["logits"], "fc", transB=1),
        helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax", axis=-1),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 28, 28])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name) for name, value in weights.items()],
        doc_string="Handwritten digits 0 to 9; grey levels 0 (paper) to 1 (ink).")
    model = helper.make_model(graph, producer_name="weft", opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=20)
    args = parser.parse_args()
    digits = load_digits()
    x, y = upscale(digits.images, 28), digits.target
    layers = train(x[:-HELD_OUT], y[:-HELD_OUT], args.epochs)
    export(layers, HERE / "model.onnx")
    held, labels = x[-HELD_OUT:], y[-HELD_OUT:]
    session = case.reference_session(HERE / "model.onnx")
    (probabilities,) = case.write_data_set(HERE / "test_data_set_0", session, {"image": held})
    case.write_data_set(HERE / "test_data_set_1", session, {"image": held[:3]})
    np.save(HERE / "labels.npy", labels.astype(np.int64))
    np.save(HERE / "sample.npy", held[:1])
    right = int((probabilities.argmax(1) == labels).sum())
    print(f"held out: {right} of {len(labels)} right, accuracy {right / len(labels):.4f}; sample.npy is a {labels[0]}")


if __name__ == "__main__":
    main()
