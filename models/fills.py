"""Seeded model inputs. A fill is {"kind": KIND, ...parameters}; models.json gives one for each input of a data set."""
import numpy as np


def normal(shape, mean, std, seed):
    return np.random.default_rng(seed).normal(mean, std, shape)


def uniform(shape, lo, hi, seed):
    return np.random.default_rng(seed).uniform(lo, hi, shape)


def randint(shape, lo, hi, seed):
    """Integers of [lo, hi)."""
    return np.random.default_rng(seed).integers(lo, hi, shape)


def const(shape, value):
    return np.full(shape, value)


def values(shape, values):
    return np.reshape(values, shape)


def arange(shape, start):
    """start, start + 1, ... along the last axis, the same in every row."""
    return np.broadcast_to(start + np.arange(shape[-1]), shape)


def blocks(shape, lo, hi):
    """Something like dark text (lo) on a light page (hi): noise would drive a text recogniser's outputs to nearly zero.

    The page is cut into lines of 24 pixels, every other one empty. A line has a margin of 3 above and below; its text is a grid of
    blocks, 3 wide and 3 high, of which a hash blackens about half, and each fifth column of blocks is a gap between letters.
    """
    row, column = np.indices(shape[-2:])
    line, y = divmod(row, 24)
    block_x, block_y = column // 3, y // 3
    printed = (line % 2 == 0) & (3 <= y) & (y < 21) & (8 <= column) & (column < shape[-1] - 8) & (block_x % 5 != 4)
    black = (7919 * block_x + 104729 * block_y + 1299709 * line) % 97 < 45
    return np.broadcast_to(np.where(printed & black, lo, hi), shape)


def digits(shape, start):
    """Consecutive images of scikit-learn's handwritten digits, a row of 64 grey values (0 to 16) each."""
    from sklearn.datasets import load_digits  # needed here only, and slow to import

    return load_digits().data[start : start + shape[0]].reshape(shape)


KINDS = {f.__name__: f for f in (normal, uniform, randint, const, values, arange, blocks, digits)}


def make(spec):
    """The array of an input spec {"name", "dtype", "shape", "fill"}."""
    parameters = dict(spec["fill"])
    fill = KINDS[parameters.pop("kind")]
    return np.array(fill(tuple(spec["shape"]), **parameters), dtype=spec["dtype"], order="C")
