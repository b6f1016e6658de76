"""A program that runs during a measurement."""
import subprocess

from process import end


class Companion:
    """Runs a program while entered. Subclasses choose it and wait until it is ready."""

    #: Its standard streams.
    STREAMS = subprocess.DEVNULL

    def __init__(self):
        self._child = None

    def __enter__(self):
        self._child = subprocess.Popen(
            self._command(), stdin=self.STREAMS, stdout=self.STREAMS, stderr=self.STREAMS, start_new_session=True)
        try:
            self._make_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        end(self._child.pid)
        self._child.wait()
        for stream in filter(None, (self._child.stdin, self._child.stdout, self._child.stderr)):
            stream.close()

    def _command(self):
        """The program and its arguments; prepares its files first."""
        raise NotImplementedError

    def _make_ready(self):
        """Waits until the program is ready."""
        raise NotImplementedError
