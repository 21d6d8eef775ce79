"""Embeddings for tests of maps: a cloud without structure, and groups that lie apart."""

import numpy as np


def cloud(n: int, dim: int = 24, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32)


def groups(n: int = 90, seed: int = 0, spread: float = 0.15) -> tuple[np.ndarray, np.ndarray]:
    """Three far groups of directions, and which row is of which."""
    generator = np.random.default_rng(seed)
    which = np.arange(n) % 3
    rows = np.eye(3, 12)[which] + generator.normal(scale=spread / 3, size=(n, 12))
    return rows.astype(np.float32), which
