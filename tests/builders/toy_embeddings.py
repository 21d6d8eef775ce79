"""Clusters on a sphere that stand for embedded utterances of several intents."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Toy:
    """Rows (m, d) float32 of length one, their intents' columns, one-hot targets and names."""

    rows: np.ndarray
    columns: np.ndarray
    targets: np.ndarray
    intents: tuple[str, ...]


def clusters(n_intents: int, per_intent: int, spread: float, seed: int, dim: int = 12) -> Toy:
    """Scatter `per_intent` rows around each intent's centre; a larger spread mixes them."""
    centres = np.random.default_rng(99).normal(size=(n_intents, dim))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    columns = np.repeat(np.arange(n_intents), per_intent)
    noise = np.random.default_rng(seed).normal(size=(len(columns), dim)) * spread / np.sqrt(dim)
    rows = centres[columns] + noise
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    names = tuple(f"intent-{column}" for column in range(n_intents))
    return Toy(rows, columns, np.eye(n_intents)[columns], names)
