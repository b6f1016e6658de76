"""The result of a measurement, and its text."""
import dataclasses
import math


@dataclasses.dataclass
class Figure:
    """A row of the table: our value, another program's if there is one, and the limit."""

    line: str
    what: str
    ours: float | None = None
    unit: str = ""
    theirs: float | None = None
    ratio: float | None = None
    limit: float | None = None
    #: The limited value: `ours` or `ratio`.
    limited: str = "ours"
    #: Details: rounds, the other program, other observations.
    note: str = ""
    #: The reason for a missing figure.
    missing: str = ""
    #: Whether the missing figure is a failure, not just a missing feature.
    failed: bool = False
    #: The raw values, for the JSON.
    details: dict = dataclasses.field(default_factory=dict)

    @property
    def value(self):
        """The value to compare with the limit."""
        return self.ratio if self.limited == "ratio" else self.ours

    @property
    def is_over(self):
        return self.limit is not None and self.value is not None and self.value > self.limit

    @property
    def verdict(self):
        if self.failed:
            return "FAILED"
        if self.missing:
            return "not there"
        if self.limit is None:
            return ""
        return "OVER" if self.is_over else "ok"

    @property
    def brief(self):
        """The result on one line."""
        value = number(self.ratio) if self.limited == "ratio" else number(self.ours, self.unit)
        return f"{self.what}: {self.missing or value} {self.verdict}".rstrip()

    def as_json(self):
        return dataclasses.asdict(self) | {"verdict": self.verdict}


def percentile(values, percent):
    """The smallest value that this percentage of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def number(value, unit=""):
    """A readable number with at most four digits."""
    if value is None:
        return ""
    if value == int(value):
        text = f"{int(value):,}"
    else:
        text = f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"
    return f"{text} {unit}".rstrip()


def table(figures):
    """The figures in columns, with notes below."""
    rows = [("line", "what", "ours", "theirs", "ratio", "limit", "")]
    for figure in figures:
        rows.append((
            figure.line, figure.what, number(figure.ours, figure.unit), number(figure.theirs, figure.unit),
            number(figure.ratio), number(figure.limit, "" if figure.limited == "ratio" else figure.unit),
            figure.verdict,
        ))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for index, row in enumerate(rows):
        texts = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2])]
        numbers = [cell.rjust(width) for cell, width in zip(row[2:6], widths[2:6])]
        yield "  ".join([*texts, *numbers, row[6]]).rstrip()
        if index:
            figure = figures[index - 1]
            for text in filter(None, (figure.missing, figure.note)):
                yield " " * (widths[0] + 6) + text
