"""The links."""
import dataclasses

#: Bytes of a packet, and of its TCP payload.
PACKET, LOAD = 1500, 1448
#: Approximate bytes of an answer's headers.
HEAD = 250


@dataclasses.dataclass(frozen=True)
class Shape:
    """A link's properties, and the amounts to fetch over it."""

    name: str
    #: Bits a second.
    rate: int
    #: Round trip, in milliseconds.
    round_trip: int
    #: The number of thumbnails.
    thumbnails: int
    #: Share of packets that are lost.
    loss: float = 0.0
    #: The folder of the opened photo, and the seconds before it opens.
    photos: str = "large"
    photo_after: float = 3.0
    #: The gallery whose photos are prefetched.
    among: str = "large"
    #: Later properties: seconds, bits a second, milliseconds.
    later: tuple = ()

    @property
    def text(self):
        """The description."""
        rate = f"{self.rate / 1e6:g} Mbit/s" if self.rate >= 1e6 else f"{self.rate / 1e3:g} kbit/s"
        loss = f", {self.loss * 100:g} % lost" if self.loss else ""
        return f"{self.name} ({rate}, {self.round_trip} ms{loss})"

    @property
    def longest_trip(self):
        """The maximum round trip, in milliseconds."""
        return max([self.round_trip, *(trip for _, _, trip in self.later)])

    @property
    def product(self):
        """The bandwidth-delay product, in bytes."""
        return self.rate / 8 * self.round_trip / 1000

    def time_of_four(self, size):
        """The seconds that four files of that size take side by side."""
        return 4 * size * 8 / self.rate

    def least(self, sizes):
        """The minimum seconds for files of these sizes: their packets and two round trips."""
        wire = sum(size + HEAD for size in sizes) * PACKET / LOAD
        return wire * 8 / self.rate + 2 * self.round_trip / 1000

    @property
    def options(self):
        """For `shaped_link`."""
        chosen = [f"--rate={self.rate}", f"--rtt={self.round_trip}", f"--loss={self.loss}"]
        if self.later:
            steps = [(0, self.rate, self.round_trip), *self.later]
            chosen.append("--schedule=" + ",".join(f"{at}:{rate}/{trip}" for at, rate, trip in steps))
        return chosen


#: Links for tuning (b, c, d), e and f, and two controls (g, h).
SHAPES = {
    shape.name: shape for shape in (
        Shape("b", 50_000_000, 100, 2_000),
        Shape("c", 2_000_000, 300, 200, photos="middle", photo_after=6, among="mixed"),
        Shape("d", 256_000, 600, 60, photos="middle", photo_after=8, among="middle"),
        Shape("e", 10_000_000, 40, 800, loss=0.01),
        Shape("f", 300_000_000, 20, 2_000, photo_after=0.75),
        Shape("g", 20_000_000, 60, 2_000, loss=0.003),
        Shape("h", 5_000_000, 150, 800, photos="middle", among="mixed"),
    )
}
TUNED = "bcd"
#: A link that collapses before all thumbnails have come.
COLLAPSE = Shape(
    "collapse", 50_000_000, 100, 4_000, photos="middle", photo_after=8, later=((5, 256_000, 600),))
