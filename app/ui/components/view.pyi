"""A place on a Gradio page that one of our scripts fills."""

from typing import Any

import gradio as gr

_MOUNT = """
element.classList.add('studio');
const place = element.querySelector('.view');
import('/assets/js/' + props.script + '.js')
  .then(module => module.mount(place, {props, trigger, watch}))
  .catch(error => { place.textContent = 'This page could not start: ' + error.message; });
"""

from gradio.events import Dependency

class View(gr.HTML):
    """Loads `/studio/js/SCRIPT.js` and lets its `mount` fill the place."""

    def __init__(self, script: str, **props: Any) -> None:
        super().__init__(
            value="",
            html_template=f"<div class='view view-{script}'></div>",
            js_on_load=_MOUNT,
            apply_default_css=False,
            elem_id=f"view-{script}",
            script=script,
            **props,
        )

    def api_info(self) -> dict[str, str]:
        """Carry nothing through Gradio's own interface."""
        return {"type": "string"}
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component