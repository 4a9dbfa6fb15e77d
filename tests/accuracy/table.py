"""Tables and criteria of the records, in Markdown."""

from collections import Counter, defaultdict

import numpy as np

from figures import geometric_mean, paired_interval, win_rates
from methods import DEFAULT, UNCHANGED
from truths import ROWS

#: How far behind the best method in hindsight the default may be, by the number of rows.
BEHIND = {200: 1.3, 1000: 1.15, 5000: 1.1}
MOST_WORSE, LEAST_HOLD = 0.05, 0.9


def _line(cells):
    return f"| {' | '.join(cells)} |"


def _table(head, rows, left=1):
    marks = [*(["---"] * left), *(["--:"] * (len(head) - left))]
    return "\n".join(map(_line, [head, marks, *rows]))


def _pair(record):
    return tuple(record["pair"])


#: What the kinds of scores are called.
KINDS = {"scores": "two classes, probabilities", "margins": "two classes, raw scores", "probs": "several classes"}


def _by_pair(records, value):
    """The mean of a value over the splits of each pair, left out where there is none."""
    found = defaultdict(list)
    for record in records:
        of_record = value(record)
        if of_record is not None:
            found[_pair(record)].append(of_record)
    return {pair: float(np.mean(values)) for pair, values in found.items()}


def _change(records, name, which, reference=UNCHANGED):
    """How the mean loss of each pair changes against another method's."""

    def of(record):
        losses = record["losses"]
        return losses[name][which] - losses[reference][which] if name in losses and reference in losses else None

    return _by_pair(records, of)


def _with_interval(values, unit, digits):
    if not values:
        return "–"
    mean, lo, hi = (value / unit for value in paired_interval(values))
    return f"{mean:+.{digits}f} ({lo:+.{digits}f} to {hi:+.{digits}f})"


class League:
    """Experiments on data, summed up by method."""

    def __init__(self, records):
        self.records = records
        self.names = sorted({name for record in records for name in record["losses"]})
        table = [[record["losses"].get(name, (np.nan, np.nan)) for name in self.names] for record in records]
        self.wins = [dict(zip(self.names, win_rates(np.array(table)[:, :, which]))) for which in (0, 1)]
        self.order = sorted(self.names, key=lambda name: -self.wins[0][name])
        self.rank = 1 + self.order.index(DEFAULT)
        self.worse = {name: self._share(lambda record: record["worse"].get(name)) for name in self.names}
        failed = Counter(line.partition(":")[0] for record in records for line in record["failed"])
        self.failed = {name: (n, sum(name in record["losses"] for record in records)) for name, n in failed.items()}
        self.refuted = self._share(lambda record: record["refuted"] if record.get("ranges") else None)

    def _share(self, of):
        found = [value for value in map(of, self.records) if value is not None]
        return float(np.mean(found)) if found else float("nan")

    def _row(self, name):
        brier, log = _change(self.records, name, 0), _change(self.records, name, 1)
        lens = [record["bytes"][name] for record in self.records if name in record["bytes"]]
        costs = [record["costs"][name] for record in self.records if name in record.get("costs", {}) and record["kind"] == "scores"]
        costs = costs or [record["costs"][name] for record in self.records if name in record.get("costs", {})]
        cost = " / ".join(f"{np.median(core):.0f}" for core in zip(*costs)) if costs else "–"
        return [
            name,
            str(len([record for record in self.records if name in record["losses"]])),
            f"{self.wins[0][name]:.2f}",
            f"{self.wins[1][name]:.2f}",
            _with_interval(list(brier.values()), 1e-4, 0),
            _with_interval(list(log.values()), 1e-3, 0),
            f"{100 * self.worse[name]:.1f}%",
            f"{np.median(lens):.0f}" if lens else "–",
            cost,
        ]

    def methods(self):
        head = [
            "method",
            "experiments",
            "Brier win rate",
            "log-loss win rate",
            "Brier score, in 0.0001",
            "log-loss, in 0.001",
            "significantly worse",
            "bytes",
            "instructions",
        ]
        return _table(head, map(self._row, self.order))

    def kinds(self):
        rows = []
        for kind, called in KINDS.items():
            records = [record for record in self.records if record["kind"] == kind]
            if records:
                of_kind = League(records)
                best = next(name for name in of_kind.order if name != DEFAULT)
                wins = [f"{of_kind.wins[0][name]:.2f}" for name in (DEFAULT, best)]
                rows.append([called, str(len(records)), wins[0], f"{of_kind.rank} of {len(of_kind.names)}", f"{best}, {wins[1]}"])
        return _table(["scores", "experiments", "default's win rate", "rank", "best other"], rows)

    def pairs(self):
        rows = []
        for pair in sorted({_pair(record) for record in self.records}):
            of_pair = [record for record in self.records if _pair(record) == pair]
            means = {}
            for name in self.names:
                losses = [record["losses"][name][0] for record in of_pair if name in record["losses"]]
                if len(losses) == len(of_pair):
                    means[name] = float(np.mean(losses))
            order = sorted(means, key=means.get)
            changes = [record["losses"][DEFAULT][0] - record["losses"][UNCHANGED][0] for record in of_pair]
            n = [record["rows"][0] for record in of_pair]
            rows.append(
                [
                    *pair,
                    f"{min(n)}" if min(n) == max(n) else f"{min(n)}–{max(n)}",
                    str(of_pair[0]["classes"]),
                    f"{np.mean([record['hits'] for record in of_pair]):.2f}",
                    f"{means[UNCHANGED]:.4f}",
                    _with_interval(changes, 1e-4, 0),
                    f"{1 + order.index(DEFAULT)} of {len(order)}",
                    order[0],
                ]
            )
        head = ["data", "classifier", "rows", "classes", "hits", "Brier score", "change, in 0.0001", "rank", "best"]
        return _table(head, rows, 2)


class Truths:
    """Draws from known curves, summed up by method and number of rows."""

    def __init__(self, records):
        self.records = [record for record in records if record["errors"]]
        self.rows = [n for n in ROWS if any(record["n"] == n for record in self.records)]
        self.curves = list(dict.fromkeys(record["curve"] for record in self.records))
        self.names = list(self.records[0]["errors"])
        self.errors = {(curve, n): self._errors(curve, n) for curve in self.curves for n in self.rows}
        self.behind = {n: self._behind(n) for n in self.rows}
        self.held = self._share("held")
        self.band = self._share("band")

    def _share(self, key):
        found = [record[key] for record in self.records if record.get(key) is not None]
        return float(np.mean(found)) if found else float("nan")

    def _errors(self, curve, n):
        of_both = [record["errors"] for record in self.records if (record["curve"], record["n"]) == (curve, n)]
        return {name: float(np.mean([errors[name] for errors in of_both])) for name in self.names}

    def _best(self, curve, n):
        """The single method that is nearest in hindsight."""
        others = {name: error for name, error in self.errors[curve, n].items() if name != DEFAULT}
        return min(others, key=others.get)

    def _behind(self, n):
        """Each method's squared error as a multiple of the best's, in the geometric mean over the curves."""
        of = self.errors
        return {
            name: geometric_mean([of[curve, n][name] / of[curve, n][self._best(curve, n)] for curve in self.curves])
            for name in self.names
        }

    def rising(self):
        """The curves for which the default's error rises with the rows."""
        steps = list(zip(self.rows, self.rows[1:]))
        worse = {
            curve: [n for before, n in steps if self.errors[curve, n][DEFAULT] > self.errors[curve, before][DEFAULT]]
            for curve in self.curves
        }
        return {curve: rows for curve, rows in worse.items() if rows}

    def methods(self):
        order = sorted(self.names, key=lambda name: self.behind[self.rows[-1]][name])
        rows = [[name, *(f"{self.behind[n][name]:.2f}" for n in self.rows)] for name in order]
        return _table(["method", *(f"{n} rows" for n in self.rows)], rows)

    def by_curve(self):
        rows = []
        for curve in self.curves:
            cells = []
            for n in self.rows:
                best = self._best(curve, n)
                root = np.sqrt(self.errors[curve, n][DEFAULT])
                cells += [f"{root:.4f}", f"{self.errors[curve, n][DEFAULT] / self.errors[curve, n][best]:.2f}", best]
            rows.append([curve, *cells])
        head = ["curve", *(cell for n in self.rows for cell in (f"error, {n} rows", "multiple", "best"))]
        return _table(head, rows)


def criteria(league, truths):
    """Each criterion: whether it is kept, and what was found."""
    never = [name for name, (n, tried) in league.failed.items() if n == tried]
    unfitted = f", but not {', '.join(never)}" if never else ""
    found = [
        (not never, f"Each method can be fitted somewhere{unfitted}."),
        (league.rank <= 2, f"The default is number {league.rank} of {len(league.names)} by its Brier win rate; first or second is required."),
        (
            league.worse[DEFAULT] <= MOST_WORSE,
            f"The default makes {100 * league.worse[DEFAULT]:.1f}% of the experiments significantly worse; at most 5% are allowed.",
        ),
        (
            truths.held >= LEAST_HOLD,
            f"All intervals hold in {100 * truths.held:.1f}% of the draws from known curves; at least 90% are required.",
        ),
        (
            league.refuted <= 1 - LEAST_HOLD,
            f"Test rows refute an interval in {100 * league.refuted:.1f}% of the experiments on data; at most 10% are allowed.",
        ),
    ]
    if np.isfinite(truths.band):
        found.append(
            (truths.band >= LEAST_HOLD, f"The band holds at every score in {100 * truths.band:.1f}% of the draws from rising curves; at least 90% are required.")
        )
    for n in truths.rows:
        behind = dict(truths.behind[n])
        ours = behind.pop(DEFAULT)
        nearest = min(behind, key=behind.get)
        found.append(
            (ours <= BEHIND[n], f"With {n} rows the default's squared error is {ours:.2f} times the best method's; at most {BEHIND[n]} is allowed.")
        )
        found.append(
            (ours < behind[nearest], f"With {n} rows the nearest single method is {nearest} with {behind[nearest]:.2f}; the default must be below it.")
        )
    if len(truths.rows) > 1:
        rising = truths.rising()
        where = "; ".join(f"{curve} at {', '.join(map(str, rows))}" for curve, rows in rising.items())
        found.append((not rising, f"The default's error rises with the rows for {len(rising)} of {len(truths.curves)} curves{f' ({where})' if where else ''}; it never may."))
    return found


def page(experiments, draws, lines):
    """All of it."""
    league, truths = League(experiments), Truths(draws)
    kept = criteria(league, truths)
    pairs = {_pair(record) for record in experiments}
    partly = sum(record.get("uncalibrated", 0) > 0 for record in experiments)
    parts = [
        "## Criteria",
        "\n".join(f"- {'pass' if is_kept else '**FAIL**'}: {what}" for is_kept, what in kept),
        "## On data",
        f"{len(experiments)} experiments with {len(pairs)} pairs of a data set and a classifier. In {partly} of them the default left a class "
        f"uncalibrated, and in {league.failed.get(DEFAULT, (0, 0))[0]} it refused all rows.",
        league.methods(),
        "The default by the kind of scores:",
        league.kinds(),
        "Each pair, and what the default changes:",
        league.pairs(),
        "## Known curves",
        f"{len(truths.records)} draws from {len(truths.curves)} curves. Squared error to the truth, as a multiple of the best single method's of "
        "each curve, in the geometric mean:",
        truths.methods(),
        "The default's error for each curve (root of the mean square), its square as a multiple of the best method's, and which that is:",
        truths.by_curve(),
        "## Versions, and what is left out",
        "\n".join(f"- {line}" for line in [*lines, *(f"not fitted in {n} of {tried} experiments: {name}" for name, (n, tried) in league.failed.items())]),
    ]
    return "\n\n".join(parts) + "\n", all(is_kept for is_kept, _ in kept)
