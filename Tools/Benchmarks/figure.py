"""What a measurement says, and how it is told."""
import dataclasses
import math


@dataclasses.dataclass
class Figure:
    """One line of the table: ours, somebody else's beside it where there is one, and the limit that is held."""

    line: str
    what: str
    ours: float | None = None
    unit: str = ""
    theirs: float | None = None
    ratio: float | None = None
    limit: float | None = None
    #: What the limit is for: `ours` or `ratio`.
    limited: str = "ours"
    #: How it came about: how many rounds, who the other one is, what else was seen.
    note: str = ""
    #: Why there is no figure, where there is none.
    missing: str = ""
    #: Whether it is a mistake that there is none, and not just something that this Vitrine does not do yet.
    failed: bool = False
    #: What it was worked out from, for those who read the JSON.
    details: dict = dataclasses.field(default_factory=dict)

    @property
    def value(self):
        """What is held against the limit."""
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
        """What came out, as it is told at once."""
        value = number(self.ratio) if self.limited == "ratio" else number(self.ours, self.unit)
        return f"{self.what}: {self.missing or value} {self.verdict}".rstrip()

    def as_json(self):
        return dataclasses.asdict(self) | {"verdict": self.verdict}


def percentile(values, percent):
    """The smallest value that so many percent of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def number(value, unit=""):
    """A number as one reads it, with four digits at most where they say something."""
    if value is None:
        return ""
    if value == int(value):
        text = f"{int(value):,}"
    else:
        text = f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"
    return f"{text} {unit}".rstrip()


def table(figures):
    """The figures in columns, and what is to be said of them beneath each."""
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
