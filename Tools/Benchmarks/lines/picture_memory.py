"""Peak memory of showing a photo of 24 megapixels, including the decoder."""
import statistics

from figure import Figure
from lines.show import CELLS, vitrine
from process import peaks_of

#: MiB.
BASELINE, PROGRESSIVE = 30, 100
ROUNDS = 3


def peak(workshop, photo):
    command = vitrine(workshop, CELLS, "--symbols", "sextant", "--pixels", "none", photo)
    # Program and decoder run at the same time, though their peaks may be at different times.
    return sum(peaks_of(command, workshop.environment(workshop.folder_for("show"))))


def measure(workshop):
    for what, photo, limit in (
            ("24 MP", workshop.photos() / "24.jpg", BASELINE),
            ("24 MP, progressive", workshop.progressive_photo(), PROGRESSIVE)):
        most = [peak(workshop, photo) for _ in range(ROUNDS)]
        yield Figure(
            "picture-memory", f"peak memory of showing a photo, {what}", ours=statistics.median(most), unit="MiB",
            limit=limit)
