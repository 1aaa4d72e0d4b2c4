"""Where the `phalanx` command starts: a Ctrl-C during the imports gets its one line as well."""

from __future__ import annotations

import os


def main() -> None:
    """Entry point; leaves by `SystemExit`."""
    try:
        from phalanx.cli.main import main as run
    except KeyboardInterrupt:
        os.write(2, b"phalanx: interrupted\n")
        os._exit(130)
    run()
