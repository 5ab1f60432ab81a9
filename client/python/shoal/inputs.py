# SPDX-License-Identifier: Apache-2.0
"""Submissions: the service says which files it lacks, this side finds them where the program `shoal` does and posts again."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.errors import Problem, ShoalError
from shoal.transport import Transport

GROMACS_FOLDER = "/usr/share/gromacs/top"
StrPath = str | os.PathLike[str]


def folders_of(spec: StrPath, includes: Sequence[StrPath]) -> list[str]:
    """Where files are looked for: the spec's folder, the include folders, those of GMXLIB, GROMACS' own."""
    gmxlib = [folder for folder in os.environ.get("GMXLIB", "").split(":") if folder]
    return [os.path.dirname(os.fspath(spec)) or ".", *(os.fspath(folder) for folder in includes), *gmxlib, GROMACS_FOLDER]


def read_spec(path: StrPath) -> str:
    """SPEC: it is not UTF-8; MISSING_FILE."""
    try:
        with open(path, encoding="utf-8", newline="") as f:
            return f.read()
    except UnicodeDecodeError as error:
        raise ShoalError("SPEC", f"{os.fspath(path)}: not UTF-8 text") from error
    except OSError as error:
        raise ShoalError("MISSING_FILE", f"{os.fspath(path)}: {error.strerror}") from error


def post(transport: Transport, path: str, body: Mapping[str, Any], folders: Sequence[str]) -> dict[str, Any]:
    """Posts until nothing is missing: the answer. Each round adds a file, or ends with a Problem."""
    files = dict(body["files"])
    while True:
        try:
            return transport.ask("POST", path, {**body, "files": files})
        except Problem as problem:
            if problem.code != "MISSING_FILE" or not problem.files or not folders:
                raise
            found = {name: text for name, text in (_find(problem, names, folders) for names in problem.files) if name not in files}
            if not found:
                raise
            files.update(found)


def _find(problem: Problem, names: Sequence[str], folders: Sequence[str]) -> tuple[str, str]:
    """Name and text of the first of the names that a folder has."""
    for name in names:
        for folder in folders:
            path = os.path.join(folder, name)
            if is_below(name) and os.path.exists(path):
                return name, _read_text(path)
    message = problem.message if names == problem.files[0] else f"{names[0]}: no such file"
    raise Problem("MISSING_FILE", f"{message}; looked in {', '.join(folders)}", problem.status, problem.files) from problem


def is_below(name: str) -> bool:
    """Whether it stays in the folder it is looked up in."""
    return all(part not in ("", ".", "..") for part in name.split("/"))


def _read_text(path: str) -> str:
    """What is not UTF-8 is taken as Latin-1, in which comments of old force fields are written."""
    try:
        with open(path, "rb") as f:
            data = f.read()
    except OSError as error:
        raise ShoalError("IO", f"{path}: {error.strerror}") from error
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")
