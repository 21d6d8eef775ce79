"""Read the texts of requests, and refuse what is too large or of another shape."""

import json
from typing import Any

from app.serving.limits import Serving
from core.errors import MALFORMED, InvalidInput
from core.text import is_storable


def read_object(body: bytes) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        InvalidInput: It is none.
    """
    try:
        value = json.loads(body)
    except MALFORMED as error:
        raise InvalidInput("The body is no JSON.", "Send a JSON object.") from error
    if not isinstance(value, dict):
        raise InvalidInput("The body is no JSON object.", "Send a JSON object.")
    return value


def named_model(body: dict[str, Any]) -> str:
    """Return the name of the model that a request asks; "" where it names none.

    Raises:
        InvalidInput: What stands for the name is no text.
    """
    name = body.get("model", "")
    if not isinstance(name, str):
        raise InvalidInput("The model's name is no text.", 'Send {"model": "...", "text": "..."}.')
    return name


def echoed(value: object, name: str) -> str:
    """Return what a request says as the words that its answer repeats.

    Raises:
        InvalidInput: No answer can repeat them.
    """
    words = str(value)
    if not is_storable(words):
        raise InvalidInput(f"The {name} is no text of whole characters.", "Send another, or none.")
    return words


def own_texts(body: dict[str, Any], serving: Serving) -> list[str]:
    """Return the texts of `{"text": ...}` or `{"texts": [...]}`.

    Raises:
        InvalidInput: There is no text, or too many or too long ones.
    """
    if ("text" in body) == ("texts" in body):
        raise InvalidInput("The body names neither text nor texts.", 'Send {"text": "..."}.')
    return checked([body["text"]] if "text" in body else body["texts"], serving)


def tensor_texts(body: dict[str, Any], serving: Serving) -> list[str]:
    """Return the texts of an Open Inference Protocol request: one input of datatype BYTES.

    Raises:
        InvalidInput: It has another input, or too many or too long texts.
    """
    inputs = body.get("inputs")
    one = inputs[0] if isinstance(inputs, list) and len(inputs) == 1 else None
    if not isinstance(one, dict) or one.get("datatype") != "BYTES":
        raise InvalidInput("A request has one input of datatype BYTES.", "Send texts as its data.")
    data = one.get("data")
    if isinstance(data, list) and data and all(isinstance(row, list) for row in data):
        data = [text for row in data for text in row]  # of shape (n, 1)
    texts = checked(data, serving)
    shape = one.get("shape", [len(texts)])
    if shape not in ([len(texts)], [len(texts), 1]):
        raise InvalidInput(f"{len(texts)} texts came with the shape {str(shape)[:80]}.")
    return texts


def wanted_outputs(body: dict[str, Any], known: tuple[str, ...]) -> list[object]:
    """Return the names of the outputs that an Open Inference Protocol request asks for.

    There are none where all outputs are wanted.

    Raises:
        InvalidInput: What stands for the outputs is no list, or names another than the known ones.
    """
    wanted = body.get("outputs") or []
    if not isinstance(wanted, list):
        raise InvalidInput("The outputs are no list.", 'Send [{"name": "intent"}], or none.')
    names: list[object] = [one.get("name") if isinstance(one, dict) else None for one in wanted]
    if not all(name in known for name in names):
        hint = f'Send [{{"name": "intent"}}], say. There are {", ".join(known)}.'
        raise InvalidInput("There is no such output.", hint)
    return names


def checked(texts: object, serving: Serving) -> list[str]:
    """Return texts that may be answered.

    Raises:
        InvalidInput: It is no list of texts, or they are too many or too long.
    """
    if not isinstance(texts, list) or not texts:
        raise InvalidInput("There is no text to answer.", "Send one or more.")
    if len(texts) > serving.most_texts:
        raise InvalidInput(
            f"{len(texts):,} texts came at once; {serving.most_texts:,} may.", "Send fewer at once."
        )
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str) or not is_storable(text):
            raise InvalidInput(f"Text {number} is no text.", "Send strings of whole characters.")
        if len(text) > serving.most_signs:
            raise InvalidInput(
                f"Text {number} has {len(text):,} characters; {serving.most_signs:,} may be.",
                "Send a shorter one.",
            )
    return texts
