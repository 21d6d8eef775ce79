"""The element of a Gradio page that a script of the studio fills."""

from typing import Any

import gradio as gr

_MOUNT = """
element.classList.add('studio');
const place = element.querySelector('.view');
import(new URL(props.address, document.baseURI).href)
  .then(module => module.mount(place))
  .catch(error => { place.textContent = 'This page could not start: ' + error.message; });
"""


class View(gr.HTML):
    """Loads the script at an address and lets its `mount` fill the place of that name."""

    def __init__(self, script: str, address: str) -> None:
        super().__init__(
            value="",
            html_template=f"<div class='view view-{script}'></div>",
            js_on_load=_MOUNT,
            apply_default_css=False,
            elem_id=f"view-{script}",
            address=address,
        )

    def api_info(self) -> dict[str, Any]:
        """Carry nothing through Gradio's own interface."""
        return {"type": "string"}
