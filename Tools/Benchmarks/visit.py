"""Vitrine at the near end of a link, with a photo opened during other transfers."""
import dataclasses
import shutil
import time

from link import NEAR
from network import LIMIT, thrown_away
from pictures import list_file, photo, size_of_last
from process import Trouble, TooLong
from terminal import Terminal
from transfer_log import TransferLog

END, ENTER = "\x1bOF", "\r"
#: The time limit for the list, and the interval of reading the log, in seconds.
PATIENCE, LOOK = 10, 0.02


@dataclasses.dataclass(frozen=True)
class Visit:
    """A run with an opened photo."""

    scheme: str
    #: Kind and number of photos; the last one is opened.
    kind: str
    count: int
    #: Seconds from the start of the program.
    after: float
    options: tuple = ()
    #: The option of the `sync` that fills the cache first.
    scope: str = "--list-only"
    #: Whether the run continues until all thumbnails have come.
    is_to_the_end: bool = False

    def go(self, network):
        """Returns the seconds from the key to the photo's last byte, and notes."""
        address = network.server.address(self.scheme, list_file(self.kind, self.count))
        wanted = network.server.address(self.scheme, photo(self.kind, self.count - 1, self.count))
        home = network.home(address, self.scope)
        file = home / "log"
        command = [network.workshop.binary, "-l", "debug", "-d", file, *self.options, address]
        log = TransferLog(file)
        network.link.restart()
        try:
            inside = network.link.at(NEAR, [str(part) for part in command])
            with Terminal(inside, network.environment(home)) as terminal:
                pressed = self._open(terminal)
                self._await(terminal, log, lambda: log.bytes[wanted] >= size_of_last(self.kind))
                notes = {
                    "from_request": log.came[wanted] - log.asked[wanted], "until_request": log.asked[wanted] - pressed}
                if self.is_to_the_end:
                    self._await(terminal, log, lambda: network.stored(home)[0] == self.count)
                    notes |= self._waste(network, home, log)
            return log.came[wanted] - pressed, notes | {"cut_off": log.cut_off}
        finally:
            log.close()
            shutil.rmtree(home)

    def _open(self, terminal):
        """Opens the last photo. Returns the time, in seconds since 1970."""
        name = f"Photo {self.count - 1:04d}"
        if terminal.until(lambda screen: "Photo 0000" in screen.text, PATIENCE) is None:
            raise Trouble("The gallery was not shown within ten seconds.")
        terminal.type(END)
        if name not in terminal.screen.text and terminal.until(lambda screen: name in screen.text, PATIENCE) is None:
            raise Trouble("The last photo was not shown within ten seconds.")
        terminal.rest_for(self.after - (terminal.now() - terminal.begun))
        pressed = time.time()
        terminal.type(ENTER)
        return pressed

    def _await(self, terminal, log, condition):
        deadline = terminal.now() + LIMIT
        while True:
            log.read()
            if condition():
                return
            if terminal.now() > deadline:
                raise TooLong(f"vitrine took more than {LIMIT} s: {self.kind} photo over {self.scheme}")
            terminal.rest_for(LOOK)

    def _waste(self, network, home, log):
        count, stored = network.stored(home)
        log.read()
        stored += size_of_last(self.kind)
        counts = network.link.counts()
        return {"link": counts, "thrown_away": thrown_away(counts, self.scheme, log.answers, stored)}
