"""The code of ConveRT as one file, saved with each encoder.

sentence-transformers runs the file that `modules.json` names if its user trusts the folder
(`trust_remote_code=True`). This project reads weights and sizes only, and never runs that file.
"""

import json
import re
from pathlib import Path

MODULE = "modeling_convert"
_PARTS = ("sizes", "subwords", "quantisation", "blocks", "network", "model", "sentence_module")
_OWN = re.compile(r"^from core\.encoders\.convert\.\w+ import (?:\([^)]*\)|[^\n]*)\n", re.M)
_HEAD = '"""ConveRT (Henderson et al. 2020) as a module of sentence-transformers."""\n'


def module_source() -> bytes:
    """Join the parts in the order of their imports, without the imports of each other."""
    texts = [Path(__file__).with_name(f"{name}.py").read_text("utf-8") for name in _PARTS]
    return "\n".join([_HEAD, *(_OWN.sub("", text) for text in texts)]).encode()


def modules_json() -> bytes:
    """Name the module's class as sentence-transformers expects it."""
    entry = {"idx": 0, "name": "0", "path": "", "type": f"{MODULE}.ConvertModule"}
    return (json.dumps([entry], indent=2) + "\n").encode()


def settings_json() -> bytes:
    """Write the kind of model for sentence-transformers."""
    settings: dict[str, object] = {
        "model_type": "SentenceTransformer",
        "prompts": {},
        "default_prompt_name": None,
    }
    return (json.dumps(settings, indent=2) + "\n").encode()
