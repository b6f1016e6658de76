"""Follows the transfers in Vitrine's log."""
import collections
import datetime
import os
import re

#: `2006-07-30 07:47:17.000 network #12 http://…`, or the transfer's result.
BEGUN = re.compile(r"^(\S+ \S+) \S+ #(\d+) (https?://\S+)$")
ENDED = re.compile(r"^(\S+ \S+) \S+ #(\d+) (?:(\d{3}): (\d+) bytes in \d+ ms|(.*))$")


def moment(text):
    """Seconds since 1970; the log is in UTC here."""
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp()


class TransferLog:
    """Follows a log of the level `debug`.

    When Vitrine rotates the log, this reads the old file to its end and continues with the new one.
    """

    def __init__(self, path):
        self._path = path
        self._file = None
        self._rest = ""
        #: Addresses by transfer number.
        self._addresses = {}
        #: Times of first request and last byte, by address, in seconds since 1970.
        self.asked, self.came = {}, {}
        #: Received bytes by address; a file may come in pieces.
        self.bytes = collections.Counter()
        #: Numbers of answers, and of transfers without one.
        self.answers = self.cut_off = 0

    def read(self):
        """Reads new lines."""
        if not self._file and self._path.exists():
            self._file = open(self._path, encoding="utf-8")
        while self._file:
            is_old = self._path.exists() and os.stat(self._path).st_ino != os.fstat(self._file.fileno()).st_ino
            self._take(self._file.read())
            if not is_old:
                return
            self._file.close()
            self._file = open(self._path, encoding="utf-8")

    def close(self):
        if self._file:
            self._file.close()

    def _take(self, text):
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            if match := BEGUN.match(line):
                self._addresses[match[2]] = match[3]
                self.asked.setdefault(match[3], moment(match[1]))
            elif match := ENDED.match(line):
                self._note_end(match)

    def _note_end(self, match):
        if match[3]:
            self.answers += 1
        else:
            self.cut_off += 1
        if match[3] in ("200", "206"):
            address = self._addresses.get(match[2])
            self.came[address] = moment(match[1])
            self.bytes[address] += int(match[4])
