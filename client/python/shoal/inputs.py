# SPDX-License-Identifier: Apache-2.0
"""Submissions: the service says which files it lacks, this side finds them where the program `shoal` does and posts again."""
from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.errors import Problem, ShoalError, refusal
from shoal.transport import Transport

# Where a path in a text may end and begin: beside it stands none of the characters that paths are made of.
PATH = r"[A-Za-z0-9._+~@/\\\x80-\U0010ffff-]"
EDGE_AFTER, EDGE_BEFORE = f"(?!{PATH})", f"(?<!{PATH})"
GZIP = b"\x1f\x8b"
TEXT_MAX = 1 << 29  # bytes of a text, so that a small file cannot exhaust memory: as engine/base/gzip.h has it
GROMACS_FOLDER = "/usr/share/gromacs/top"
StrPath = str | os.PathLike[str]


def folders_of(spec: StrPath, includes: Sequence[StrPath]) -> list[str]:
    """Where files are looked for: the spec's folder, the include folders, those of GMXLIB, GROMACS' own."""
    gmxlib = [folder for folder in os.environ.get("GMXLIB", "").split(":") if folder]
    return [os.path.dirname(os.fspath(spec)) or ".", *(os.fspath(folder) for folder in includes), *gmxlib, GROMACS_FOLDER]


def read_spec(path: StrPath) -> str:
    """SPEC: it is not UTF-8; MISSING_FILE."""
    try:
        return _read(os.fspath(path)).decode()
    except UnicodeDecodeError as error:
        raise refusal("SPEC", f"{os.fspath(path)}: not UTF-8 text") from error
    except OSError as error:
        raise refusal("MISSING_FILE", f"{os.fspath(path)}: {error.strerror}") from error


def write_spec(spec: Mapping[str, Any]) -> str:
    """The text of a spec that is a mapping: JSON, which is YAML, a key a line so that messages have lines."""
    return json.dumps(spec, indent=1, allow_nan=False) + "\n"


def post(transport: Transport, path: str, body: Mapping[str, Any], folders: Sequence[str]) -> dict[str, Any]:
    """Posts until nothing is missing: the answer. Each round adds a file, or ends with a Problem."""
    files = dict(body["files"])
    while True:
        try:
            return transport.ask("POST", path, {**body, "files": files})
        except Problem as problem:
            if problem.code != "MISSING_FILE" or not problem.files or not folders:
                raise
            before = len(files)
            for names in problem.files:
                name, text = _find(problem, names, folders, {"": str(body["spec"]), **files})
                files[name] = text
            if len(files) == before:
                raise


def _find(problem: Problem, names: Sequence[str], folders: Sequence[str], texts: Mapping[str, str]) -> tuple[str, str]:
    """Name and text of the first of the names that is there. texts: what was sent, by name, the spec's is empty. FORBIDDEN: no text names it."""
    reached = [name for name in names if is_normal(name) and any(reaches(from_, text, name) for from_, text in texts.items())]
    unreached = [name for name in names if is_normal(name) and name not in reached]
    if unreached and not reached:
        raise refusal("FORBIDDEN", f"the service asks for the file {unreached[0]}, which neither the spec nor a file it includes names: "
                      "it is not sent")
    for name in reached:
        for path in (*(os.path.join(folder, name) for folder in folders), os.path.join(folders[0], kept_name(name))):
            if os.path.isfile(path):
                return name, _read_text(path)
    message = problem.message if names == problem.files[0] else f"{names[0]}: no such file"
    raise refusal("MISSING_FILE", f"{message}; looked in {', '.join(folders)}", problem.status, problem.files) from problem


def join(from_: str, name: str) -> str:
    """`name` as seen from the folder of the file `from_`, which is empty for the spec: without ".", "x/.." and doubled slashes."""
    path = os.path.normpath(os.path.join(os.path.dirname(from_), name))
    return "/" + path.lstrip("/") if path.startswith("/") else path  # POSIX lets two slashes be


def is_normal(name: str) -> bool:
    """Whether it has the spelling of `join`, and can be a file's."""
    return bool(name) and join("", name) == name and os.path.basename(name) not in ("", ".", "..")


def kept_name(name: str) -> str:
    """Where a service keeps the file of a normalised name, in a folder that nothing may leave: ../../a as @up2/a, /x/a as @root/x/a."""
    up = 0
    while name.startswith("../"):
        name, up = name[3:], up + 1
    return f"@up{up}/{name}" if up else f"@root{name}" if name.startswith("/") else name


def reaches(from_: str, text: str, name: str) -> bool:
    """Whether a text spells out a file: by a path that, seen from the text's own folder or from the base, is `name`. In a file that was
    sent (`from_` is its name) only lines of the preprocessor count; in the spec any word does."""
    last = os.path.basename(name)
    for line in text.split("\n"):
        if last not in line or (from_ and not line.lstrip(" \t").startswith("#")):
            continue
        for end in (match.end() for match in re.finditer(re.escape(last) + EDGE_AFTER, line)):
            starts = (match.start() for match in re.finditer(EDGE_BEFORE, line[:end]))
            if any(name in (join(from_, line[start:end]), join("", line[start:end])) for start in starts):
                return True
    return False


def _read(path: str) -> bytes:
    """A file, of one that is compressed by gzip what it holds. OSError; IO: it is damaged."""
    with open(path, "rb") as f:
        data = f.read()
    if not data.startswith(GZIP):
        return data
    try:
        with gzip.open(path) as packed:
            data = packed.read(TEXT_MAX + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ShoalError("IO", f"{path}: its gzip data end too early or are damaged") from error
    if len(data) > TEXT_MAX:
        raise ShoalError("IO", f"{path}: its gzip data hold more than {TEXT_MAX >> 20} MB")
    return data


def _read_text(path: str) -> str:
    """The text of a file. What is not UTF-8 is taken as Latin-1, in which comments of old force fields are written."""
    try:
        data = _read(path)
    except OSError as error:
        raise ShoalError("IO", f"{path}: {error.strerror}") from error
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")
