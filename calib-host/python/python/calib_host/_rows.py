"""Tables that show themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, overload


#: So many rows are shown, half of them from the end.
MOST = 40


class Rows(Sequence[dict[str, Any]]):
    """A table: a sequence of rows, each a dict by the names of its columns.

    It shows itself, in a notebook as HTML. ``to_frame()`` makes a pandas DataFrame.

    >>> from calib_host import Rows
    >>> Rows(["method", "brier"], [{"method": "umd", "brier": 0.25}])
    method  brier
    umd      0.25
    """

    def __init__(self, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]):
        #: The names of the columns.
        self.columns: tuple[str, ...] = tuple(columns)
        self._rows = [{name: row.get(name) for name in columns} for row in rows]

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, at: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return self._rows[at]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and (self.columns, self._rows) == (other.columns, other._rows)

    __hash__ = None  # type: ignore[assignment]

    def column(self, name: str) -> list[Any]:
        """The values of a column."""
        return [row[name] for row in self._rows]

    def to_frame(self) -> Any:
        """A pandas DataFrame of the rows."""
        import pandas

        return pandas.DataFrame(self._rows, columns=list(self.columns))

    def _cells(self) -> list[list[str]]:
        cells = [[in_words(row[name]) for name in self.columns] for row in self._rows]
        if len(cells) <= MOST:
            return cells
        return [*cells[: MOST // 2], ["..."] * len(self.columns), *cells[-MOST // 2 :]]

    def _rest(self) -> str:
        return f"{len(self._rows)} rows; to_frame() has all of them" if len(self._rows) > MOST else ""

    def _is_text(self) -> list[bool]:
        return [any(isinstance(row[name], str) for row in self._rows) for name in self.columns]

    def __repr__(self) -> str:
        cells = [list(self.columns), *self._cells()]
        widths = [max(map(len, column)) for column in zip(*cells)]
        is_text = self._is_text()
        lines = (
            "  ".join(cell.ljust(width) if left else cell.rjust(width) for cell, width, left in zip(row, widths, is_text))
            for row in cells
        )
        return "\n".join([*(line.rstrip() for line in lines), *filter(None, [self._rest()])])

    def _repr_html_(self) -> str:
        sides = ["left" if left else "right" for left in self._is_text()]

        def line(tag: str, cells: Sequence[str]) -> str:
            one = (f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>' for cell, side in zip(cells, sides))
            return f"<tr>{''.join(one)}</tr>"

        rest = self._rest()
        body = "".join(line("td", row) for row in self._cells())
        return f"<table><thead>{line('th', self.columns)}</thead><tbody>{body}</tbody></table>" + (f"<p>{rest}</p>" if rest else "")


def in_words(value: Any) -> str:
    """A cell: floats with four digits, nothing where there is nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        text = f"{value:.4f}" if 1e-3 <= abs(value) < 1e4 else f"{value:.4g}"
        return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return str(value)
