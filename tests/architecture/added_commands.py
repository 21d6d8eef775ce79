"""Commands, options and routes that are newer than the reference of the outer contract."""

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
        *("--began", "--second-source-column", "--speaker-column"),
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
    *(("intent-studio export", f"--{o}") for o in ("after", "before", "traffic")),
    *(("intent-studio predict", name) for name in ("--format", "--precision", "--to")),
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
    *(("intent-studio import", name) for name in ("project", "file", "--format", "--split")),
    ("intent-studio import", "--separator"),
    *(("intent-studio export", name) for name in ("file", "--format")),
    ("intent-studio cancel", "job"),
    ("intent-studio resume", "job"),
    ("intent-studio", "--database-url"),
    ("intent-studio predict", "model"),
    ("intent-studio explain", "model"),
    ("intent-studio serve", "--port"),
    ("intent-studio train", "--base"),
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
NEW_HELP |= {
    (f"intent-studio {command}", "project")
    for command in (
        *("augment", "dialogues import", "dialogues list", "dialogues remove", "export"),
        *("review", "slots", "train", "versions"),
    )
}
NEW_HELP |= {
    (f"intent-studio {command}", "model") for command in ("bundle export", "evaluate", "promote")
}
NEW_HELP |= {
    (f"intent-studio bench {bench}", option)
    for bench in (
        *("explain", "few-shot", "label-encoder", "label-errors", "multi-label", "out-of-scope"),
        *("response-selection", "templates"),
    )
    for option in ("--base", "--recipe")
}
"""Command and option whose default, choices or help differ from the reference."""

NEW_ROUTES = {
    "GET /api/recipes",
    "GET /api/projects/{project}/next",
    "GET /api/projects/{project}/training-choices",
    "GET /api/projects/{project}/map/islands",
    "GET /api/projects/{project}/review/groups",
    "POST /api/projects/{project}/edits/count",
    "GET /api/project-names",
    "GET /api/projects/{project}/packages/{key}/look",
    "GET /api/deleted-projects",
    "POST /api/deleted-projects/{key}/restore",
    "DELETE /api/projects/{project}",
    "POST /api/projects/{project}/utterances/answers",
    *(f"{verb} /api/projects/{{project}}/filters" for verb in ("GET", "PUT", "DELETE")),
    "GET /api/projects/{project}/today",
    "PUT /api/projects/{project}/today/goal",
    "POST /api/projects/{project}/erase",
    "GET /api/health/live",
    "GET /api/jobs",
    "POST /api/projects/{project}/texts",
    "POST /api/projects/{project}/evaluate",
    "GET /api/health/ready",
    "GET /api/database",
    "GET /api/projects/{project}/sure",
    "POST /api/projects/{project}/sure/check",
    "POST /api/projects/{project}/sure/accept",
    *(f"{verb} /api/projects/{{project}}/shares" for verb in ("GET", "POST")),
    "DELETE /api/projects/{project}/shares/{key}",
    "GET /api/projects/{project}/acts",
    "GET /api/projects/{project}/dialogues/{log}/conversations",
    "POST /api/projects/{project}/dialogues/{log}/restore",
    "GET /api/projects/{project}/slots/unmarked",
    *(f"{verb} /api/projects/{{project}}/groups" for verb in ("GET", "POST")),
    *(f"{verb} /api/projects/{{project}}/groups/{{number}}" for verb in ("GET", "PATCH")),
    *(f"POST /api/projects/{{project}}/groups/{{number}}/{act}" for act in ("take", "split")),
    "GET /api/projects/{project}/groups/{number}/texts",
    *(f"{verb} /api/projects/{{project}}/traffic" for verb in ("GET", "POST")),
    "POST /api/projects/{project}/traffic/logs",
    *(
        f"{verb} /api/projects/{{project}}/traffic/logs/{{key}}"
        for verb in ("GET", "POST", "DELETE")
    ),
    "POST /api/projects/{project}/traffic/logs/{key}/undo",
    "GET /api/projects/{project}/dialogues/waiting/{key}/personal",
    "GET /api/projects/{project}/enough",
    *(
        f"GET /api/projects/{{project}}/traffic/{part}"
        for part in ("texts", "sources", "report.{form}", "export")
    ),
    "POST /api/projects/{project}/packages",
    *(f"{verb} /api/projects/{{project}}/proposals" for verb in ("GET", "POST")),
    *(
        f"GET /api/projects/{{project}}/handovers{end}"
        for end in ("", "/{target}", "/{target}/file")
    ),
    "GET /api/projects/{project}/packages/{key}",
}
