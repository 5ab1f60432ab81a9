# SPDX-License-Identifier: Apache-2.0
"""Tuples of dataclasses that become DataFrames."""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from shoal.frames import import_pandas

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")


class Rows(tuple[T, ...]):
    """A tuple, one item for each row of a table."""

    __slots__ = ()

    def to_frame(self) -> DataFrame:
        """A row for each item. What an item holds in objects of its own has dots in the names of its columns, as in
        `samples.used`, `lambda.vdw` and `free_energy.kcal_mol.error`; tables in an item are left out. Needs pandas."""
        return import_pandas().DataFrame([flat(item) for item in self])


def flat(item: object) -> dict[str, Any]:
    """The columns of one row."""
    found: dict[str, Any] = {}
    _flatten(item, "", found)
    return found


def _flatten(value: Any, name: str, found: dict[str, Any]) -> None:
    if dataclasses.is_dataclass(value):
        parts = {f.name.removesuffix("_"): getattr(value, f.name) for f in dataclasses.fields(value)}
        if parts.keys() >= {"value", "error"}:  # an error stands beside its value
            found[name] = parts.pop("value")
        for part, inner in parts.items():
            _flatten(inner, f"{name}.{part}" if name else part, found)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _flatten(inner, f"{name}.{key}" if name else str(key), found)
    elif not (isinstance(value, tuple) and any(dataclasses.is_dataclass(one) for one in value)):
        found[name] = value
