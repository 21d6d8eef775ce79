"""The look of Gradio's own parts: the font and the colours of css/shared/tokens.css."""

import gradio as gr

_SANS = ("Inter", "ui-sans-serif", "system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif")
_MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace")


def studio_theme() -> gr.themes.Base:
    """Return the theme; no font is fetched from elsewhere."""
    theme = gr.themes.Base(font=_SANS, font_mono=_MONO)
    return theme.set(
        body_background_fill="var(--ground)",
        body_background_fill_dark="var(--ground)",
        body_text_color="var(--ink)",
        body_text_color_dark="var(--ink)",
        body_text_color_subdued="var(--soft)",
        body_text_color_subdued_dark="var(--soft)",
        block_background_fill="var(--sheet)",
        block_background_fill_dark="var(--sheet)",
        block_border_color="var(--line)",
        block_border_color_dark="var(--line)",
        block_label_text_color="var(--ink)",
        block_label_text_color_dark="var(--ink)",
        block_title_text_color="var(--ink)",
        block_title_text_color_dark="var(--ink)",
        block_info_text_color="var(--soft)",
        block_info_text_color_dark="var(--soft)",
        input_background_fill="var(--ground)",
        input_background_fill_dark="var(--ground)",
        input_border_color="var(--line-strong)",
        input_border_color_dark="var(--line-strong)",
        slider_color="var(--accent)",
        slider_color_dark="var(--accent)",
        checkbox_background_color_selected="var(--accent)",
        checkbox_background_color_selected_dark="var(--accent)",
    )
