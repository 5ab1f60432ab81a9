# SPDX-License-Identifier: Apache-2.0
"""Where the service's socket is, by the rules of the program `shoal`."""
from __future__ import annotations

import os

SYSTEM_SOCKET = "/run/shoald/api.sock"


def candidates() -> list[str]:
    """A user's own service, then the system's; without doubles."""
    found: list[str] = []
    for name, rest in (("XDG_RUNTIME_DIR", "/shoald/api.sock"), ("XDG_STATE_HOME", "/shoald/api.sock"),
                       ("HOME", "/.local/state/shoald/api.sock")):
        base = os.environ.get(name, "")
        if base.startswith("/") and base + rest not in found:
            found.append(base + rest)
    return [*found, SYSTEM_SOCKET]


def find_socket(given: str | os.PathLike[str] | None) -> tuple[str, str]:
    """(path, what was looked at): the one that is given, SHOAL_SOCKET, else the first that is there."""
    path = os.fspath(given) if given else os.environ.get("SHOAL_SOCKET", "")
    if path:
        return path, path
    tried = candidates()
    return next((one for one in tried if os.path.exists(one)), SYSTEM_SOCKET), ", ".join(tried)
