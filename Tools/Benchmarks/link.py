"""Two network namespaces with a shaped link between them."""
import json
import os
import pathlib
import select
import shutil
import subprocess
import time

from companion import Companion
from process import Trouble, end, run

SOURCE = pathlib.Path(__file__).with_name("link") / "shaped_link.c"
#: The ends of client and server.
NEAR, FAR = "10.44.0.1", "10.44.0.2"
#: The time limit for answers of the link, in seconds.
PATIENCE = 10
#: The time limit for leftover packets, in seconds.
SETTLING = 60
PROGRAMS = ("cc", "ip", "nsenter", "setpriv", "nginx", "openssl")


def obstacle():
    """The reason why links are impossible here; None otherwise."""
    if os.geteuid() != 0:
        return "left out: a link needs root, for its network namespaces"
    if not os.path.exists("/dev/net/tun"):
        return "left out: a link needs TUN, and there is no /dev/net/tun"
    if missing := [program for program in PROGRAMS if not shutil.which(program)]:
        return f"left out: not installed: {', '.join(missing)}"
    return ""


class Link(Companion):
    """A link while it is entered.

    Its namespaces have no names and belong to the program that carries the packets. That program ends when its standard
    input is closed, and so with this process. The system also kills programs at both ends then. So a run leaves nothing
    to clean up.
    """

    STREAMS = subprocess.PIPE

    def __init__(self, shape, folder):
        super().__init__()
        self.shape = shape
        self._program = folder / "shaped_link"
        self._spaces = {}

    def _command(self):
        if not self._program.exists():
            run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", self._program, SOURCE])
        return [str(self._program), *self.shape.options]

    def _make_ready(self):
        word, near, far = self._line().split()
        if word != "ready":
            raise Trouble(f"The link says {word}.")
        self._spaces = {NEAR: near, FAR: far}
        for mine, other in ((NEAR, FAR), (FAR, NEAR)):
            self._set_up(mine, other)

    def at(self, side, command):
        """A command to run at one end; it ends with this process."""
        return [
            shutil.which("setpriv"), "--pdeathsig", "KILL", "nsenter",
            f"--net=/proc/{self._child.pid}/fd/{self._spaces[side]}", *command]

    def restart(self):
        """Starts the schedule with the next packet and resets the counters.

        First it waits until the last run's packets have left the line.
        """
        deadline = time.perf_counter() + SETTLING
        while True:
            time.sleep(2 * self.shape.longest_trip / 1000)
            lines = [self.counts()[name] for name in ("down", "up")]
            if not any(line["packets"] or line["under_way"] for line in lines):
                break
            if time.perf_counter() > deadline:
                raise Trouble("The link still has packets.")
        self._ask("restart")

    def counts(self):
        """The traffic in each direction since the last call, and the link's lateness."""
        return json.loads(self._ask("count"))

    def _set_up(self, mine, other):
        def do(*command):
            run(self.at(mine, command))

        do("ip", "link", "set", "lo", "up")
        do("ip", "link", "set", "line", "mtu", "1500", "txqueuelen", "10000", "up")
        do("ip", "address", "add", mine, "peer", other, "dev", "line")
        # Connections must not learn from earlier ones, so that each run starts alike.
        do("sh", "-c", "echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save")
        # The same algorithm on every system.
        do("ip", "route", "replace", other, "dev", "line", "src", mine, "congctl", "cubic")

    def _ask(self, command):
        self._child.stdin.write(f"{command}\n".encode())
        self._child.stdin.flush()
        return self._line()

    def _line(self):
        if select.select([self._child.stdout], [], [], PATIENCE)[0] and (line := self._child.stdout.readline()):
            return line.decode().strip()
        end(self._child.pid)
        raise Trouble(f"There is no link: {self._child.stderr.read().decode().strip()[-300:]}")
