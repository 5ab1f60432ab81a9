# SPDX-License-Identifier: Apache-2.0
""".xvg files as DataFrames: dhdl.xvg as alchemlyb's estimators take it, which is what alchemlyb.parsing.gmx makes of the same file, with
energies in kT (attrs: energy_unit, temperature) and an index of time (ps) and the window's lambdas; any other as it is.
"""
from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.errors import Malformed

if TYPE_CHECKING:
    from pandas import DataFrame

R = 8.31446261815324e-3  # kJ/(mol K)
SUBTITLE = re.compile(r"T = (\S+) \(K\) .*state \d+: (.+) = (.+)")
HEADER = re.compile(r'@\s*(title|subtitle|xaxis\s+label|s\d+ legend)\s+"(.*)"')
DELTA = "\\xD\\f{}H \\xl\\f{} to "  # legends of energy differences to the windows
GRADIENT = "dH/d\\xl\\f{} "         # legends of dH/dlambda


@dataclass(frozen=True)
class Dhdl:
    """One dhdl.xvg: rows[i] is a time (ps) and what the legends say (kJ/mol)."""

    temperature: float  # K
    lambdas: tuple[str, ...]  # "coul-lambda", ..
    state: tuple[float, ...]
    legends: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]

    def columns(self, beginning: str) -> list[int]:
        return [i for i, legend in enumerate(self.legends, 1) if legend.startswith(beginning)]


def read_xvg(text: str, name: str) -> tuple[dict[str, str], list[str], list[tuple[float, ...]]]:
    """Texts of a header (title, subtitle, xaxis), legends of the columns behind the first, and rows. Malformed, with name and line."""
    texts, legends, rows = {}, [], []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("@"):
            header = HEADER.match(line)
            if header and header[1].endswith("legend"):
                legends.append(header[2])
            elif header:
                texts[header[1].split()[0]] = header[2]
        elif line and not line.startswith("#"):
            rows.append(_row(line, 1 + len(legends), f"{name}:{number}"))
    return texts, legends, rows


def read_dhdl(text: str, name: str) -> Dhdl:
    """Malformed, with name and line."""
    texts, legends, rows = read_xvg(text, name)
    subtitle = texts.get("subtitle", "")
    parts = SUBTITLE.match(subtitle)
    if not parts:
        raise Malformed(f"{name}: expected a subtitle with temperature and lambda state, read \"{subtitle}\"")
    lambdas = tuple(parts[2].strip("()").split(", "))
    return Dhdl(float(parts[1]), lambdas, _state(parts[3]), tuple(legends), tuple(rows))


def _row(line: str, width: int, where: str) -> tuple[float, ...]:
    words = line.split()
    if len(words) != width:
        raise Malformed(f"{where}: expected {width} columns, read {len(words)}")
    try:
        return tuple(map(float, words))
    except ValueError as error:
        raise Malformed(f"{where}: expected numbers, read {line[:80]!r}") from error


def _state(text: str) -> tuple[float, ...]:
    return tuple(float(word) for word in text.strip("()").split(","))


def dhdl_frame(dhdl: Dhdl) -> DataFrame:
    """As alchemlyb.parsing.gmx.extract_dHdl: a column for each component of lambda."""
    names = [name.removesuffix("-lambda") for name in dhdl.lambdas]
    return _frame(dhdl, import_pandas().Index(names), dhdl.columns(GRADIENT), None)


def u_nk_frame(dhdl: Dhdl) -> DataFrame:
    """As alchemlyb.parsing.gmx.extract_u_nk: a column for each window, named by its lambdas; of windows alike the first."""
    columns: dict[Any, int] = {}
    for c in dhdl.columns(DELTA):
        state = _state(dhdl.legends[c - 1].removeprefix(DELTA))
        columns.setdefault(state[0] if len(state) == 1 else state, c)
    pv = dhdl.columns("pV")
    names = import_pandas().Index(list(columns), dtype=object, tupleize_cols=False)
    return _frame(dhdl, names, list(columns.values()), pv[0] if pv else None)


def _frame(dhdl: Dhdl, names: Any, columns: Sequence[int], added: int | None) -> DataFrame:
    """Columns in kT, with another one, if any, added to each. Rows that have a NaN are left out."""
    pandas = import_pandas()
    beta = 1 / (R * dhdl.temperature)
    rows = [row for row in dhdl.rows if not any(map(math.isnan, row))]
    data = [[beta * row[c] + (beta * row[added] if added is not None else 0) for c in columns] for row in rows]
    times = pandas.array([row[0] for row in rows], dtype="Float64")
    index = pandas.MultiIndex.from_arrays([times, *([value] * len(times) for value in dhdl.state)], names=["time", *dhdl.lambdas])
    frame = pandas.DataFrame(data, index=index, columns=names, dtype=float)
    frame.attrs = {"temperature": dhdl.temperature, "energy_unit": "kT"}
    return frame


def xvg_frame(text: str, name: str) -> DataFrame:
    """The columns of any .xvg file by their legends; the first is the index, by the label of its axis."""
    pandas = import_pandas()
    texts, legends, rows = read_xvg(text, name)
    index = pandas.Index([row[0] for row in rows], dtype=float, name=texts.get("xaxis", ""))
    frame = pandas.DataFrame([row[1:] for row in rows], index=index, columns=legends or None, dtype=float)
    frame.attrs = {"title": texts.get("title", "")}
    return frame


def join(frames: Sequence[DataFrame]) -> DataFrame:
    """Windows one below the other. ValueError: they are of several temperatures."""
    if any(frame.attrs != frames[0].attrs for frame in frames):
        raise ValueError("windows of several temperatures cannot be one frame: ask for one window at a time")
    joined = import_pandas().concat(frames)
    joined.attrs = dict(frames[0].attrs)
    return joined


def import_pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("DataFrames need pandas: install python3-pandas, or shoal[frames] by pip") from error
    return pandas
