"""Points that stand for embedded utterances: clusters on a sphere, groups, a plain cloud."""

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


def cloud(n: int, dim: int = 24, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32)


def groups(n: int = 90, seed: int = 0, spread: float = 0.15) -> tuple[np.ndarray, np.ndarray]:
    """Three far groups of directions, and which row is of which."""
    generator = np.random.default_rng(seed)
    which = np.arange(n) % 3
    rows = np.eye(3, 12)[which] + generator.normal(scale=spread / 3, size=(n, 12))
    return rows.astype(np.float32), which
