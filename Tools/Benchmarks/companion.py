"""A program that is there while something is measured."""
import subprocess

from process import end


class Companion:
    """Runs a program while it is entered. Which one, and when it is ready, is for subclasses to say."""

    #: What it reads from and writes to.
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
        """The program and its arguments, once what it needs is there."""
        raise NotImplementedError

    def _make_ready(self):
        """Returns when it can be used."""
        raise NotImplementedError
