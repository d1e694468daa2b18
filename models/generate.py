#!/usr/bin/env python3
"""Models that no package carries, made here from seeds.

    models/generate.py NAME FILE.onnx
"""
import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper

from decoders import tiny_decoder, tiny_decoder_int4
from quantised import digits_dynamic, digits_qdq, digits_qlinear


def skl_rf_digits():
    """A random forest of 100 trees, fitted to the first 1000 of scikit-learn's handwritten digits."""
    from sklearn.datasets import load_digits
    from sklearn.ensemble import RandomForestClassifier

    images, labels = load_digits(return_X_y=True)
    forest = RandomForestClassifier(n_estimators=100, random_state=0).fit(images[:1000], labels[:1000])
    inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["N", 64])]
    outputs = [
        helper.make_tensor_value_info("label", TensorProto.INT64, ["N"]),
        helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", 10]),
    ]
    node = helper.make_node("TreeEnsembleClassifier", ["X"], ["label", "probabilities"], "forest", domain="ai.onnx.ml",
                            classlabels_int64s=forest.classes_.tolist(), post_transform="NONE", **ensemble_attributes(forest))
    graph = helper.make_graph([node], "skl_rf_digits", inputs, outputs, doc_string=skl_rf_digits.__doc__)
    opsets = [helper.make_opsetid("ai.onnx.ml", 1), helper.make_opsetid("", 22)]
    return helper.make_model(graph, producer_name="weft models", opset_imports=opsets, ir_version=10)


def ensemble_attributes(forest):
    """The trees as the parallel lists of TreeEnsembleClassifier; a leaf votes with its share of the forest, by class frequency."""
    nodes = {name: [] for name in ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids", "hitrates",
                                   "missing_value_tracks_true")}
    votes = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree_id, estimator in enumerate(forest.estimators_):
        tree = estimator.tree_
        leaf = tree.children_left < 0
        nodes["treeids"] += [tree_id] * tree.node_count
        nodes["nodeids"] += range(tree.node_count)
        nodes["modes"] += np.where(leaf, "LEAF", "BRANCH_LEQ").tolist()
        nodes["featureids"] += np.where(leaf, 0, tree.feature).tolist()
        nodes["values"] += np.where(leaf, 0, tree.threshold).tolist()
        nodes["truenodeids"] += np.where(leaf, 0, tree.children_left).tolist()
        nodes["falsenodeids"] += np.where(leaf, 0, tree.children_right).tolist()
        nodes["hitrates"] += [1.0] * tree.node_count
        nodes["missing_value_tracks_true"] += [0] * tree.node_count

        counts = tree.value[:, 0, :] * leaf[:, None]  # [node, class]
        node_ids, class_ids = np.nonzero(counts)
        votes["treeids"] += [tree_id] * len(node_ids)
        votes["nodeids"] += node_ids.tolist()
        votes["ids"] += class_ids.tolist()
        shares = counts / np.where(leaf, counts.sum(axis=1), 1)[:, None] / len(forest.estimators_)
        votes["weights"] += shares[node_ids, class_ids].tolist()
    return {f"nodes_{name}": v for name, v in nodes.items()} | {f"class_{name}": v for name, v in votes.items()}


GENERATORS = {f.__name__: f for f in (skl_rf_digits, tiny_decoder, tiny_decoder_int4, digits_dynamic, digits_qdq, digits_qlinear)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=GENERATORS)
    parser.add_argument("file")
    args = parser.parse_args()
    onnx.save(GENERATORS[args.name](), args.file)


if __name__ == "__main__":
    main()
