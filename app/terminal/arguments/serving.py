"""The arguments of the commands that serve the studio, a model, and an agent."""

from argparse import ArgumentParser
from pathlib import Path

from app.serving.arguments import add_arguments
from app.serving.command import HELP, NAME
from app.terminal.arguments.shared import Commands, add_command


def add_serving(commands: Commands) -> None:
    """Add the commands."""
    add_arguments(add_command(commands, NAME, HELP, "serve.serve_model"))
    serve = add_command(commands, "serve", "open the studio in the browser", "serve.serve")
    serve.add_argument("--host", default="127.0.0.1", help="address (default 127.0.0.1)")
    serve.add_argument(
        "--port", type=int, help="default: the last one of this home, else from 7860 on"
    )
    serve.add_argument(
        "--socket", type=Path, metavar="FILE", help="listen on this Unix socket, for a proxy"
    )
    serve.add_argument(
        "--socket-group", default="", metavar="NAME", help="let this group open the socket, too"
    )
    serve.add_argument("--no-browser", action="store_true", help="do not open a browser")
    serve.add_argument("--no-token", action="store_true", help="let every local program in")
    serve.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="the token that lets in (default: STUDIO_TOKEN, or a new one, which is printed)",
    )
    _proxy(serve)
    serve.add_argument(
        "--log",
        dest="log_format",
        choices=("text", "json"),
        help="log one line for each request on standard error (default: faults alone)",
    )
    serve.add_argument("--sample", action="store_true", help="begin with the sample project")
    agents = add_command(
        commands, "mcp", "let an agent read, foretell and propose, over MCP", "serve.mcp"
    )
    agents.add_argument(
        "--name", default="", help="whose its proposals are (default: as the agent calls itself)"
    )


def _proxy(serve: ArgumentParser) -> None:
    serve.add_argument(
        "--public-url",
        default="",
        metavar="URL",
        help="where people reach it behind a proxy, such as https://nlu.example.com/intents",
    )
    serve.add_argument(
        "--root-path",
        default="",
        metavar="PATH",
        help="what the proxy has before every path (default: the path of the public URL)",
    )
    serve.add_argument(
        "--trusted-host",
        dest="trusted_hosts",
        action="append",
        default=[],
        metavar="NAME",
        help="a further name by which requests may call it; may be repeated",
    )
