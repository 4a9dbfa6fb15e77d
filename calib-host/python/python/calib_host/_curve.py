"""The curve of a calibrator, as a picture in a notebook."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: The size of the picture, and of its margins.
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 360, 260, 44, 36, 10
#: A line and a band of a table, by its number.
COLORS = ("#0b62a4", "#c2410c", "#15803d", "#7e22ce", "#b91c1c", "#0f766e", "#a16207", "#475569")


def svg(
    curves: Sequence[tuple[str, Sequence[tuple[float, float]], Sequence[tuple[float, float, float, float]]]],
    ends: tuple[float, float],
    what: str,
    *,
    diagonal: bool,
) -> str:
    """Curves between two scores: each with a name, its points, and bands from a score to another one, with a lower and an upper end."""
    low, high = ends
    width, height = WIDTH - LEFT - 10, HEIGHT - TOP - BOTTOM

    def at(score: float, prob: float) -> tuple[str, str]:
        return f"{LEFT + width * (score - low) / (high - low):.1f}", f"{TOP + height * (1 - prob):.1f}"

    parts = [
        f'<svg role="img" aria-label="calibrated probability over {what}" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11" '
        'style="background:#fff">'
    ]
    for number, (_, _, bands) in enumerate(curves):
        for left, right, lower, upper in bands:
            x0, y0 = at(max(left, low), upper)
            x1, y1 = at(min(right, high), lower)
            parts.append(
                f'<rect x="{x0}" y="{y0}" width="{float(x1) - float(x0):.1f}" height="{float(y1) - float(y0):.1f}" '
                f'fill="{COLORS[number % len(COLORS)]}" fill-opacity="0.15"/>'
            )
    if diagonal:
        (x0, y0), (x1, y1) = at(low, 0), at(high, 1)
        parts.append(f'<line x1="{x0}" y1="{y0}" x2="{x1}" y2="{y1}" stroke="#999" stroke-dasharray="3 3"/>')
    for number, (name, points, _) in enumerate(curves):
        known = (at(score, prob) for score, prob in points if not math.isnan(prob))
        line = " ".join(f"{x},{y}" for x, y in known)
        color = COLORS[number % len(COLORS)]
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.8"/>')
        if len(curves) > 1:
            parts.append(f'<text x="{LEFT + 6}" y="{TOP + 14 + 13 * number}" fill="{color}">{name}</text>')
    for tick in range(5):
        part = tick / 4
        x, bottom = at(low + (high - low) * part, 0)
        _, y = at(low, part)
        parts.append(
            f'<text x="{x}" y="{float(bottom) + 14:.1f}" text-anchor="middle" fill="#333">{low + (high - low) * part:.3g}</text>'
            f'<text x="{LEFT - 5}" y="{float(y) + 4:.1f}" text-anchor="end" fill="#333">{part:.2g}</text>'
        )
    parts.append(
        f'<rect x="{LEFT}" y="{TOP}" width="{width}" height="{height}" fill="none" stroke="#333"/>'
        f'<text x="{LEFT + width / 2:.0f}" y="{HEIGHT - 6}" text-anchor="middle" fill="#333">{what}</text></svg>'
    )
    return "".join(parts)
