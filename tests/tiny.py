"""A random two-layer BERT of a few kilobytes, for tests that need the real machinery, fast."""

import json
from pathlib import Path

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,?!'"


def tiny_folder(folder: Path) -> Path:
    """Write the encoder as a sentence-transformers folder; the same each time."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel

    folder.mkdir(parents=True)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = special + list(LETTERS) + [f"##{letter}" for letter in LETTERS]
    vocabulary = {word: place for place, word in enumerate(words)}
    tokenizer = BertWordPieceTokenizer(vocab=vocabulary, lowercase=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    torch.manual_seed(0)
    BertModel(config).save_pretrained(folder)
    _write(folder / "sentence_bert_config.json", {"max_seq_length": 48, "do_lower_case": False})
    facts = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 48}
    _write(folder / "tokenizer_config.json", facts)
    pooling = {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling").mkdir()
    _write(folder / "1_Pooling" / "config.json", pooling)
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds)
    ]
    _write(folder / "modules.json", modules)
    return folder


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")
