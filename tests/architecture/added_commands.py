"""Commands and options that are newer than the reference of the outer contract."""

_NAMES = "recipes", "erase", "bundle keygen", "completion", "discover", "check"
_NAMES += "sync", "git-merge"
_NAMES += "serve-model", "bench serving", "mcp"
_NAMES += "bench discover", "bench traffic"
NEW_COMMANDS = {f"intent-studio {name}" for name in _NAMES} | {
    f"intent-studio project{verb}" for verb in ("", " rename", " delete", " restore")
}
NEW_OPTIONS = {
    ("intent-studio import", option)
    for option in (
        *("--across", "--conflicts", "--repeats", "--sheet", "--split-column", "--treat"),
        *("--source", "--source-column", "--time-column", "--traffic", "--unmasked", "--zone"),
    )
}
NEW_OPTIONS |= {
    (f"intent-studio {command}", "--json")
    for command in (
        *("backup", "bundle export", "bundle import", "cancel", "dialogues remove", "export"),
        *("new", "promote", "restore", "resume", "sample"),
    )
}
NEW_OPTIONS |= {
    ("intent-studio", "--version"),
    ("intent-studio doctor", "--repair"),
    *(("intent-studio export", name) for name in ("--dry-run", "--language", "--onto", "--split")),
    ("intent-studio export", "--remove-missing"),
    *(("intent-studio predict", name) for name in ("--precision", "--to")),
    ("intent-studio serve", "--log"),
    *(("intent-studio serve", f"--{o}") for o in ("public-url", "root-path", "trusted-host")),
    *(("intent-studio serve", f"--{o}") for o in ("socket", "socket-group", "token-file")),
    ("intent-studio backup", "--keep"),
    *(("intent-studio erase", f"--{o}") for o in ("containing", "list")),
    ("intent-studio doctor", "--prune"),
    ("intent-studio doctor", "--now"),
    ("intent-studio versions", "--delete"),
    ("intent-studio versions", "--even-so"),
    ("intent-studio bundle export", "--sign"),
    ("intent-studio bundle export", "--without-texts"),
    ("intent-studio bundle verify", "--key"),
    *(("intent-studio bundle export", f"--{o}") for o in ("runtime", "precision", "any-loss")),
    ("intent-studio jobs", "job"),
    ("intent-studio jobs", "verb_of_job"),
    ("intent-studio bench few-shot", "--device"),
}
NEW_OPTIONS |= {
    (f"intent-studio bench {bench}", option)
    for bench in ("few-shot", "out-of-scope")
    for option in ("--pool", "--pool-oos")
}
"""Command and option."""
NEW_HELP = {
    ("intent-studio import", "--format"),
    ("intent-studio export", "--format"),
    ("intent-studio cancel", "job"),
    ("intent-studio resume", "job"),
    ("intent-studio", "--database-url"),
    ("intent-studio predict", "model"),
    ("intent-studio explain", "model"),
    ("intent-studio serve", "--port"),
} | {
    (f"intent-studio {command}", "--set")
    for command in (
        "train",
        "bench few-shot",
        "bench label-encoder",
        "bench multi-label",
        "bench out-of-scope",
        "bench response-selection",
        "bench templates",
    )
}
"""Command and option whose default, choices or help differ from the reference."""
