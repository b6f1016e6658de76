"""The screen of an xterm, from a program's output."""
import re
import unicodedata

#: A sequence, a control or text. An incomplete end waits for the rest.
TOKEN = re.compile(
    r"\x1b\[(?P<private>[<=>?]?)(?P<numbers>[0-9:;]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    r"|\x1b[\]P_^X](?:[^\x07\x1b]|\x1b(?!\\))*(?:\x07|\x1b\\)"
    r"|\x1b[ -/]+[0-~]|\x1b(?P<escape>[0-Z\\`-~])|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])|(?P<text>[^\x00-\x1f\x7f]+)"
)


class Screen:
    """A grid of characters; colours are ignored."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self._cells = [self._blank() for _ in range(rows)]
        self._row = self._column = 0
        self._saved = (0, 0)
        self._region = (0, rows - 1)
        self._wraps = False
        self._last = " "
        self._bytes = b""

    def _blank(self):
        return [" "] * self.columns

    def line(self, row):
        """A row's text."""
        return "".join(self._cells[row]).rstrip()

    @property
    def lines(self):
        return tuple(map(self.line, range(self.rows)))

    @property
    def text(self):
        return "\n".join(self.lines)

    @property
    def body(self):
        """The text between the first and the last line."""
        return self.lines[1:-1]

    def feed(self, data):
        """Reads bytes, in pieces of any size."""
        self._bytes += data
        # The last character may be incomplete.
        whole = len(self._bytes)
        for back in range(1, min(4, whole) + 1):
            byte = self._bytes[-back]
            if byte < 0x80:
                break
            if byte >= 0xC0:
                length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2
                whole -= back if back < length else 0
                break
        text = self._bytes[:whole].decode("utf-8", "replace")
        position = 0
        while position < len(text) and (token := TOKEN.match(text, position)):
            position = token.end()
            self._take(token)
        self._bytes = text[position:].encode() + self._bytes[whole:]

    def _take(self, token):
        if token["text"]:
            for character in token["text"]:
                self._put(character)
        elif token["control"]:
            self._control(token["control"])
        elif token["escape"]:
            self._escape(token["escape"])
        elif token["final"] and not token["private"] and not token["between"]:
            numbers = [int(part or 0) for part in token["numbers"].replace(":", ";").split(";")]
            self._sequence(token["final"], numbers)

    def _put(self, character):
        if unicodedata.combining(character):
            column = max(0, self._column - (0 if self._wraps else 1))
            self._cells[self._row][column] += character
            return
        width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if self._wraps or self._column + width > self.columns:
            self._column = 0
            self._feed()
        self._wraps = False
        self._last = character
        self._cells[self._row][self._column] = character
        if width == 2:
            self._cells[self._row][self._column + 1] = ""
        self._column += width
        if self._column >= self.columns:
            self._column, self._wraps = self.columns - 1, True

    def _control(self, control):
        self._wraps = False
        if control == "\r":
            self._column = 0
        elif control == "\n":
            self._feed()
        elif control == "\b":
            self._column = max(0, self._column - 1)
        elif control == "\t":
            self._column = min(self.columns - 1, self._column // 8 * 8 + 8)

    def _escape(self, final):
        if final == "7":
            self._saved = (self._row, self._column)
        elif final == "8":
            self._row, self._column = self._saved
        elif final == "M":
            if self._row == self._region[0]:
                self._scroll(-1)
            else:
                self._row = max(0, self._row - 1)
        elif final in "DE":
            self._feed()

    def _feed(self):
        if self._row == self._region[1]:
            self._scroll(1)
        else:
            self._row = min(self.rows - 1, self._row + 1)

    def _scroll(self, count, top=None):
        """Moves the rows of the region up, or down."""
        top, bottom = self._region[0] if top is None else top, self._region[1]
        for _ in range(min(abs(count), bottom - top + 1)):
            self._cells.pop(top if count > 0 else bottom)
            self._cells.insert(bottom if count > 0 else top, self._blank())

    def _sequence(self, final, numbers):
        first = numbers[0]
        count = max(1, first)
        line = self._cells[self._row]
        if final in "mnhlcrt" and final != "r":
            return
        self._wraps = False
        if final in "Hf":
            second = numbers[1] if len(numbers) > 1 else 1
            self._move(count - 1, max(1, second) - 1)
        elif final == "A":
            self._move(self._row - count, self._column)
        elif final in "Be":
            self._move(self._row + count, self._column)
        elif final in "Ca":
            self._move(self._row, self._column + count)
        elif final == "D":
            self._move(self._row, self._column - count)
        elif final in "G`":
            self._move(self._row, count - 1)
        elif final == "d":
            self._move(count - 1, self._column)
        elif final == "K":
            begin, end = [(self._column, self.columns), (0, self._column + 1), (0, self.columns)][min(first, 2)]
            line[begin:end] = [" "] * (end - begin)
        elif final == "J":
            self._erase(first)
        elif final == "X":
            end = min(self.columns, self._column + count)
            line[self._column:end] = [" "] * (end - self._column)
        elif final == "@":
            line[self._column:self._column] = [" "] * count
            del line[self.columns:]
        elif final == "P":
            del line[self._column:self._column + count]
            line.extend([" "] * (self.columns - len(line)))
        elif final in "LM":
            self._scroll(count if final == "M" else -count, top=self._row)
        elif final in "ST":
            self._scroll(count if final == "S" else -count)
        elif final == "b":
            for _ in range(count):
                self._put(self._last)
        elif final == "r":
            last = numbers[1] if len(numbers) > 1 and numbers[1] else self.rows
            self._region = (count - 1, min(self.rows, last) - 1)
            self._move(0, 0)

    def _move(self, row, column):
        self._row = min(self.rows - 1, max(0, row))
        self._column = min(self.columns - 1, max(0, column))

    def _erase(self, which):
        if which == 0:
            self._sequence("K", [0])
        elif which == 1:
            self._sequence("K", [1])
        rows = [range(self._row + 1, self.rows), range(self._row), range(self.rows)][min(which, 2)]
        for row in rows:
            self._cells[row] = self._blank()
