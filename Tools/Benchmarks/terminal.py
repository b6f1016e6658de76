"""A terminal with a program, which detects complete frames."""
import fcntl
import os
import pathlib
import re
import select
import signal
import struct
import termios
import time

from process import Trouble, end
from screen import Screen

#: Begin and end of a synchronised update, which delimit a frame.
BEGIN, END = b"\x1b[?2026h", b"\x1b[?2026l"
#: Without them, a frame ends at its last byte before this many seconds of silence.
QUIET = 0.008

#: Answers of an xterm with synchronised updates, so that programs do not wait. `<>` is the queried item.
ANSWERS = [
    (re.compile(rb"\x1b\[0?c"), b"\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"),
    (re.compile(rb"\x1b\[>0?c"), b"\x1b[>41;390;0c"),
    (re.compile(rb"\x1b\[=0?c"), b"\x1bP!|00000000\x1b\\"),
    (re.compile(rb"\x1b\[>0?q"), b"\x1bP>|XTerm(390)\x1b\\"),
    (re.compile(rb"\x1b\[\?2026\$p"), b"\x1b[?2026;2$y"),
    (re.compile(rb"\x1b\[\?(?!2026)(\d+)\$p"), b"\x1b[?<>;0$y"),
    (re.compile(rb"\x1b\[5n"), b"\x1b[0n"),
    (re.compile(rb"\x1b\[6n"), b"\x1b[1;1R"),
    (re.compile(rb"\x1b\[14t"), b"\x1b[4;384;640t"),
    (re.compile(rb"\x1b\[16t"), b"\x1b[6;16;8t"),
    (re.compile(rb"\x1b\[18t"), b"\x1b[8;24;80t"),
    (re.compile(rb"\x1b\](1[012]);\?(?:\x07|\x1b\\)"), b"\x1b]<>;rgb:0000/0000/0000\x1b\\"),
    (re.compile(rb"\x1bP\+q([^\x1b]*)\x1b\\"), b"\x1bP0+r<>\x1b\\"),
    (re.compile(rb"\x1bP\$q[^\x1b]*\x1b\\"), b"\x1bP0$r\x1b\\"),
]


class Terminal:
    """A program in a terminal of 80 by 24, or another size.

    All times are those of `time.perf_counter`.
    """

    def __init__(self, arguments, environment, rows=24, columns=80, answers=ANSWERS):
        self._answers = answers
        self.screen = Screen(rows, columns)
        #: Whether the program delimits its frames.
        self.is_synchronised = False
        #: The number of bytes that the program has written.
        self.received = 0
        self._asked = b""
        self._ended = False
        self._master, slave = os.openpty()
        try:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, columns * 8, rows * 16))
            name = os.ttyname(slave)
            #: The time of the start.
            self.begun = time.perf_counter()
            # A new session adopts the first terminal that it opens.
            self.process = os.posix_spawn(
                str(arguments[0]), [str(argument) for argument in arguments], environment, setsid=True,
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, name, os.O_RDWR, 0), (os.POSIX_SPAWN_DUP2, 0, 1),
                    (os.POSIX_SPAWN_DUP2, 0, 2),
                ])
        except BaseException:
            os.close(self._master)
            raise
        finally:
            os.close(slave)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def type(self, text):
        """Types a key. Returns the time."""
        now = time.perf_counter()
        os.write(self._master, text.encode())
        return now

    def frame(self, timeout=1.0):
        """Waits for the next frame. Returns the time of its end; None without a frame."""
        deadline = time.perf_counter() + timeout
        data, last = b"", None
        while True:
            is_inside = data.rfind(BEGIN) > data.rfind(END)
            now = time.perf_counter()
            wait = QUIET if data and not is_inside else deadline - now
            if wait <= 0 or not select.select([self._master], [], [], wait)[0]:
                break
            piece, last = self._read()
            data += piece
            if END in data:
                self.is_synchronised = True
                if data.rfind(END) > data.rfind(BEGIN):
                    break
        self.screen.feed(data)
        return last

    def until(self, condition, timeout=10.0):
        """Reads frames until one meets a condition. Returns the time of its end; None if none does."""
        deadline = time.perf_counter() + timeout
        while (left := deadline - time.perf_counter()) > 0:
            complete = self.frame(left)
            if complete and condition(self.screen):
                return complete
        return None

    def change(self, timeout=1.0):
        """Reads frames until one differs. Returns the time of its end; None if none does."""
        before = self.screen.lines
        return self.until(lambda screen: screen.lines != before, timeout)

    def rest(self, seconds, timeout=120.0):
        """Waits until the program neither writes nor uses the processor for some seconds."""
        deadline = time.perf_counter() + timeout
        since, used = time.perf_counter(), self._ticks()
        while time.perf_counter() - since < seconds:
            if time.perf_counter() > deadline:
                raise Trouble("The program stays busy.")
            if self.frame(0.1) or self._ticks() != used:
                since, used = time.perf_counter(), self._ticks()

    def rest_for(self, seconds):
        """Reads output for some seconds."""
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            self.frame(left)

    def output(self, seconds):
        """The output of some seconds in pieces with their times. The screen does not follow it."""
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            if select.select([self._master], [], [], left)[0]:
                data, moment = self._read()
                yield moment, data

    @staticmethod
    def now():
        """The current time of the common clock."""
        return time.perf_counter()

    def memory(self, name):
        """`Rss` or `Pss` of the program, in MiB."""
        text = pathlib.Path(f"/proc/{self.process}/smaps_rollup").read_text()
        return int(re.search(rf"^{name}:\s+(\d+) kB", text, re.M)[1]) / 1024

    def ending(self, timeout=10.0):
        """Waits for the program's end. Returns the time."""
        watch = os.pidfd_open(self.process)
        try:
            deadline = time.perf_counter() + timeout
            while (left := deadline - time.perf_counter()) > 0:
                # Read its last output, or it would block. A closed terminal is always ready, so only the end matters
                # then.
                ready = select.select([self._master, watch], [], [], left)[0]
                now = time.perf_counter()
                if watch not in ready:
                    try:
                        os.read(self._master, 65_536)
                        continue
                    except OSError:
                        ready = select.select([watch], [], [], left)[0]
                        now = time.perf_counter()
                if watch in ready:
                    break
            else:
                raise Trouble("The program has not ended.")
        finally:
            os.close(watch)
        self._ended = True
        status = os.waitpid(self.process, 0)[1]
        os.close(self._master)
        if os.waitstatus_to_exitcode(status) != 0:
            raise Trouble(f"The program ended with {os.waitstatus_to_exitcode(status)}.")
        return now

    def close(self):
        """Ends the program, first with a catchable signal."""
        if self._ended:
            return
        self._ended = True
        os.kill(self.process, signal.SIGTERM)
        deadline = time.perf_counter() + 5
        status = 0
        while not status and time.perf_counter() < deadline:
            # Read its last output, or it would block.
            if select.select([self._master], [], [], 0.02)[0]:
                try:
                    os.read(self._master, 65_536)
                except OSError:
                    # The program closed the terminal and is about to end.
                    time.sleep(0.002)
            status = os.waitpid(self.process, os.WNOHANG)[0]
        end(self.process)
        if not status:
            os.waitpid(self.process, 0)
        os.close(self._master)

    def _read(self):
        try:
            data = os.read(self._master, 65_536)
        except OSError:
            data = b""
        now = time.perf_counter()
        if not data:
            raise Trouble("The program has ended: " + " ".join(self.screen.text.split())[-200:])
        self.received += len(data)
        self._answer(data)
        return data, now

    def _answer(self, data):
        """Answers queries, which come at the start only."""
        if b"\x1b" not in data:
            return
        self._asked = (self._asked + data)[-len(data) - 64:]
        for question, answer in self._answers:
            for match in question.finditer(self._asked):
                os.write(self._master, answer.replace(b"<>", match[match.lastindex or 0]))
                self._asked = self._asked.replace(match[0], b"", 1)

    def _ticks(self):
        fields = pathlib.Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
