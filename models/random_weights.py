"""Seeded random weights for the graphs that the onnx wheel ships with constant ones (backend/test/data/light).

Those files make each weight with ConstantOfShape, so that they stay small; but a network of constants computes constants, whatever a
kernel gets wrong.
"""
import zlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper

# Scale, shift, mean and variance of a BatchNormalization, by input slot.
BATCH_NORM = {
    1: lambda rng, dims: rng.uniform(0.8, 1.2, dims),
    2: lambda rng, dims: rng.normal(0, 0.05, dims),
    3: lambda rng, dims: rng.normal(0, 0.05, dims),
    4: lambda rng, dims: rng.uniform(0.6, 1.4, dims),
}


def draw(op_type, slot, dims, rng):
    """A weight for input `slot` of an `op_type` node, of a size that keeps activations near 1 through the layers."""
    if op_type == "BatchNormalization":
        return BATCH_NORM[slot](rng, dims)
    if len(dims) < 2:
        return rng.normal(0, 0.05, dims)
    if op_type == "Conv":
        return rng.normal(0, np.sqrt(2 / np.prod(dims[1:])), dims)  # fan-in of a filter, for Relu
    return rng.normal(0, np.sqrt(1 / max(dims)), dims)


def randomise(model):
    """Replaces, in place, each ConstantOfShape of a known shape by an initialiser."""
    graph = model.graph
    shapes = {i.name: numpy_helper.to_array(i).tolist() for i in graph.initializer}
    first_use = {}
    for node in graph.node:
        for slot, name in enumerate(node.input):
            first_use.setdefault(name, (node.op_type, slot))

    constants = [n for n in graph.node if n.op_type == "ConstantOfShape" and n.input[0] in shapes]
    for node in constants:
        name = node.output[0]
        dims = shapes[node.input[0]]
        rng = np.random.default_rng(zlib.crc32((node.name + name).encode()))
        weight = draw(*first_use.get(name, ("", 0)), dims, rng)
        graph.initializer.append(numpy_helper.from_array(weight.astype(np.float32), name))
        graph.node.remove(node)
        if model.ir_version < 4:  # an initialiser had to be an input as well
            graph.input.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))
