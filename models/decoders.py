"""Small decoder language models with seeded weights: the ops and the KV caches of the large ones."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

VOCABULARY, HIDDEN, HEADS, KV_HEADS, HEAD, INNER, LAYERS, CONTEXT = 128, 64, 4, 2, 16, 128, 2, 64


class Builder:
    """Nodes and weights of one graph."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], [], 0

    def add(self, op, inputs, outputs=1, domain="", **attributes):
        names = [f"t{self.count + k}" for k in range(outputs)]
        self.count += outputs
        self.nodes.append(helper.make_node(op, inputs, names, f"{op}_{len(self.nodes)}", domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, name, array):
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def normal(self, name, *shape):
        return self.constant(name, self.random.normal(0, 1 / np.sqrt(shape[0]), shape).astype(np.float32))

    def scale(self, name):
        return self.constant(name, self.random.uniform(0.5, 1.5, HIDDEN).astype(np.float32))

    def projection(self, name, x, rows, columns):
        return self.add("MatMul", [x, self.normal(name, rows, columns)])


def rotary_caches(builder):
    angles = np.outer(np.arange(CONTEXT), 10000.0 ** (-np.arange(HEAD // 2) / (HEAD // 2)))
    return (builder.constant("cos", np.cos(angles).astype(np.float32)), builder.constant("sin", np.sin(angles).astype(np.float32)))


def feed_forward(builder, k, x):
    gate = builder.projection(f"gate{k}", x, HIDDEN, INNER)
    up = builder.projection(f"up{k}", x, HIDDEN, INNER)
    swish = builder.add("Mul", [gate, builder.add("Sigmoid", [gate])])
    return builder.projection(f"down{k}", builder.add("Mul", [swish, up]), INNER, HIDDEN)


def finish(builder, name, doc, inputs, outputs, opsets):
    graph = helper.make_graph(builder.nodes, name, inputs, outputs, builder.weights, doc_string=doc)
    return helper.make_model(graph, producer_name="weft models", ir_version=11,
                             opset_imports=[helper.make_opsetid(domain, version) for domain, version in opsets])


def caches():
    """Value infos of the past inputs and the present outputs, and their names by layer."""
    def info(kind, length):
        return [helper.make_tensor_value_info(f"{kind}_{part}_{k}", TensorProto.FLOAT, ["batch", KV_HEADS, length, HEAD])
                for k in range(LAYERS) for part in ("key", "value")]
    return info("past", "past"), info("present", "total")


def tiny_decoder():
    """Two layers of ONNX's own ops: RMSNormalization, RotaryEmbedding, Attention with grouped heads and a cache (opset 23)."""
    b = Builder(1)
    past, present = caches()
    cos, sin = rotary_caches(b)
    x = b.add("Gather", [b.normal("embedding", VOCABULARY, HIDDEN), "tokens"])
    for k in range(LAYERS):
        h = b.add("RMSNormalization", [x, b.scale(f"norm{k}")], axis=-1, epsilon=1e-6)
        q = b.add("RotaryEmbedding", [b.projection(f"q{k}", h, HIDDEN, HEADS * HEAD), cos, sin, "positions"], num_heads=HEADS)
        key = b.add("RotaryEmbedding", [b.projection(f"k{k}", h, HIDDEN, KV_HEADS * HEAD), cos, sin, "positions"], num_heads=KV_HEADS)
        value = b.projection(f"v{k}", h, HIDDEN, KV_HEADS * HEAD)
        y, new_key, new_value = b.add("Attention", [q, key, value, "", past[2 * k].name, past[2 * k + 1].name], 3, is_causal=1,
                                      q_num_heads=HEADS, kv_num_heads=KV_HEADS)
        for made, wanted in ((new_key, present[2 * k]), (new_value, present[2 * k + 1])):
            b.nodes.append(helper.make_node("Identity", [made], [wanted.name]))
        x = b.add("Add", [x, b.projection(f"o{k}", y, HEADS * HEAD, HIDDEN)])
        h = b.add("RMSNormalization", [x, b.scale(f"inner_norm{k}")], axis=-1, epsilon=1e-6)
        x = b.add("Add", [x, feed_forward(b, k, h)])
    x = b.add("RMSNormalization", [x, b.scale("last_norm")], axis=-1, epsilon=1e-6)
    b.nodes.append(helper.make_node("MatMul", [x, b.normal("head", HIDDEN, VOCABULARY)], ["logits"]))
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in ("tokens", "positions")]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "sequence", VOCABULARY])]
    return finish(b, "tiny_decoder", tiny_decoder.__doc__, inputs + past, outputs + present, [("", 23)])


def four_bit(builder, name, x, rows, columns, block=32):
    """MatMulNBits: 4-bit weights in blocks of 32 along the rows, two to a byte, each block with its scale and zero point."""
    blocks = rows // block
    numbers = builder.random.integers(0, 16, (columns, blocks, block), dtype=np.uint8)
    packed = builder.constant(f"{name}_q", numbers[:, :, 0::2] | numbers[:, :, 1::2] << 4)
    scales = builder.constant(f"{name}_s", builder.random.uniform(0.01, 0.03, (columns, blocks)).astype(np.float32))
    zeros = builder.random.integers(6, 10, (columns, (blocks + 1) // 2 * 2), dtype=np.uint8)
    zero_points = builder.constant(f"{name}_z", zeros[:, 0::2] | zeros[:, 1::2] << 4)
    return builder.add("MatMulNBits", [x, packed, scales, zero_points], domain="com.microsoft", K=rows, N=columns, bits=4, block_size=block)


def tiny_decoder_int4():
    """Two layers as ONNX Runtime's model builder writes them: GroupQueryAttention, MatMulNBits, SkipSimplifiedLayerNormalization."""
    b = Builder(2)
    past, present = caches()
    cos, sin = rotary_caches(b)
    ms = {"domain": "com.microsoft"}
    x = b.add("Gather", [b.normal("embedding", VOCABULARY, HIDDEN), "tokens"])
    h = b.add("SimplifiedLayerNormalization", [x, b.scale("first_norm")], axis=-1, epsilon=1e-6, stash_type=1)
    for k in range(LAYERS):
        q = four_bit(b, f"q{k}", h, HIDDEN, HEADS * HEAD)
        key = four_bit(b, f"k{k}", h, HIDDEN, KV_HEADS * HEAD)
        value = four_bit(b, f"v{k}", h, HIDDEN, KV_HEADS * HEAD)
        b.nodes.append(helper.make_node(
            "GroupQueryAttention", [q, key, value, past[2 * k].name, past[2 * k + 1].name, "last", "total", cos, sin],
            [f"attended{k}", present[2 * k].name, present[2 * k + 1].name], num_heads=HEADS, kv_num_heads=KV_HEADS, do_rotary=1, **ms))
        y = four_bit(b, f"o{k}", f"attended{k}", HEADS * HEAD, HIDDEN)
        h, _, _, x = b.add("SkipSimplifiedLayerNormalization", [x, y, b.scale(f"inner_norm{k}")], 4, epsilon=1e-6, **ms)
        y = feed_forward(b, k, h)
        h, _, _, x = b.add("SkipSimplifiedLayerNormalization", [x, y, b.scale(f"next_norm{k}")], 4, epsilon=1e-6, **ms)
    b.nodes.append(helper.make_node("MatMul", [h, b.normal("head", HIDDEN, VOCABULARY)], ["logits"]))
    inputs = [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["batch", "sequence"]),
              helper.make_tensor_value_info("last", TensorProto.INT32, ["batch", 1]),
              helper.make_tensor_value_info("total", TensorProto.INT32, [1])]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "sequence", VOCABULARY])]
    return finish(b, "tiny_decoder_int4", tiny_decoder_int4.__doc__, inputs + past, outputs + present, [("", 21), ("com.microsoft", 1)])
