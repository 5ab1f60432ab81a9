# SPDX-License-Identifier: Apache-2.0
"""JSON values as dataclasses, by their annotations.

A field stands for the key of its name, without an underscore at the end (`from_`), or for the one in its metadata
(`{"key": "kJ/mol"}`). Keys that no field stands for are passed over: a later service may send them. A key that is not
there is None where the field admits that.
"""
from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from shoal.errors import Malformed
from shoal.rows import Rows

T = TypeVar("T")

WORDS: dict[Any, str] = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


@functools.cache
def fields_of(kind: type) -> tuple[tuple[str, str, Any], ...]:
    """(name, key, annotation) of every field of a dataclass."""
    hints = typing.get_type_hints(kind)
    return tuple((f.name, f.metadata.get("key", f.name.removesuffix("_")), hints[f.name]) for f in dataclasses.fields(kind))


def decode(kind: type[T], value: object, where: str) -> T:
    """A dataclass from a JSON object. `where` is what messages call it. Malformed."""
    return typing.cast(T, _decode(kind, value, where))


def _decode(kind: Any, value: Any, where: str) -> Any:
    origin = typing.get_origin(kind)
    if origin is types.UnionType:  # X | None, the only union there is
        present = next(one for one in typing.get_args(kind) if one is not types.NoneType)
        return None if value is None else _decode(present, value, where)
    if origin in (tuple, Rows):
        item = typing.get_args(kind)[0]
        return origin(_decode(item, one, f"{where}[{i}]") for i, one in enumerate(_expect(list, value, where, "a list")))
    if origin is Mapping:
        item = typing.get_args(kind)[1]
        return {key: _decode(item, one, f"{where}.{key}") for key, one in _expect(dict, value, where, "an object").items()}
    if dataclasses.is_dataclass(kind):
        return _decode_object(kind, _expect(dict, value, where, "an object"), where)
    return _decode_plain(kind, value, where)


def _decode_plain(kind: Any, value: Any, where: str) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, bool) and kind is not bool:
        raise _wrong(value, where, WORDS[kind])
    return _expect(kind, value, where, WORDS[kind])


def _decode_object(kind: Any, value: dict[str, Any], where: str) -> Any:
    made = {}
    for name, key, annotation in fields_of(kind):
        if key not in value and types.NoneType not in typing.get_args(annotation):
            raise Malformed(f"{where}: expected a key \"{key}\", read {', '.join(value) or 'none'}")
        made[name] = _decode(annotation, value.get(key), f"{where}.{key}")
    return kind(**made)


def _expect(kind: Any, value: Any, where: str, word: str) -> Any:
    if not isinstance(value, kind):
        raise _wrong(value, where, word)
    return value


def _wrong(value: Any, where: str, word: str) -> Malformed:
    return Malformed(f"{where}: expected {word}, read {value!r:.80}")
