# SPDX-License-Identifier: Apache-2.0
"""How values look to people: numbers with errors as the program `shoal` prints them, and tables for notebooks."""
from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

SHORT = {"kilocalorie_per_mole": "kcal/mol", "kilojoule_per_mole": "kJ/mol", "kelvin": "K", "nanosecond": "ns", "nanometer": "nm",
         "nanosecond_per_day": "ns/day", "second": "s", "nanometer ** 3": "nm^3"}
DECIMALS_MOST = 9
NO_ERROR = 5e-10  # a smaller one is what sums of floats leave of 0


def with_error(value: float | None, error: float | None) -> str:
    """"3.57 +- 0.19": two significant digits of the error, as engine/base/number.c writes it; "-": there is no value."""
    if value is None or not math.isfinite(value):
        return "-"
    if error is None or not math.isfinite(error) or error < NO_ERROR:
        return f"{value:.3f}"
    decimals = 1 - math.floor(math.log10(error))
    if error * 10.0**decimals >= 99.5:  # rounds up to three digits
        decimals -= 1
    decimals = min(max(decimals, 0), DECIMALS_MOST)
    return f"{value:.{decimals}f} +- {error:.{decimals}f}"


def short_unit(unit: str) -> str:
    """"kcal/mol" of "kilocalorie_per_mole"."""
    return SHORT.get(unit, unit)


def html_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A title and a table, in which nothing is markup but ours."""
    head = "".join(f"<th>{html.escape(text)}</th>" for text in headings)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<p><b>{html.escape(title)}</b></p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
