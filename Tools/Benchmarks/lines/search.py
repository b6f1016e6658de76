"""Incremental search: from each letter to the final frame."""
import unicodedata

from figure import Figure, percentile
from gallery import WORDS
from process import Trouble

#: Milliseconds, for 99 of 100 letters.
LIMIT = 50
SEARCHES = 45
#: The time limit of a result, in seconds.
PATIENCE = 2.0
#: After this many seconds without output the screen is final.
QUIET = 0.15


def plain(text):
    """Text without accents and capitals, for comparison."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)).casefold()


def shows(screen, text):
    """Whether the selected photo is a match."""
    selected = [line for line in screen.body if "▌" in line] or screen.body
    return any(plain(text) in plain(line) for line in selected)


def letter(terminal, text):
    """Types the last letter of a text.

    Returns the milliseconds until the final result appeared; None if it never did.
    """
    before = terminal.screen.body
    pressed = terminal.type(text[-1])
    shown = None
    deadline = pressed + PATIENCE
    while (now := terminal.now()) < deadline:
        complete = terminal.frame(QUIET if shown else deadline - now)
        if complete is None and shown:
            break
        body = terminal.screen.body
        if complete and shows(terminal.screen, text) and (shown is None or body != before):
            shown = complete
        before = body
    return None if shown is None else (shown - pressed) * 1000


def measure(workshop):
    gallery = workshop.gallery(workshop.many)
    what = f"a letter of a search in {gallery.photos:,} photos, "
    words = workshop.chance.sample([word for word in WORDS if len(word) > 3], SEARCHES)
    times, never = [], []
    with workshop.browse(gallery) as terminal:
        terminal.rest(1)
        title = terminal.screen.line(0)[:10]
        for number, word in enumerate(words):
            terminal.type("/")
            if terminal.change() is None:
                yield Figure("search", what + "p99", missing="this Vitrine does not search")
                return
            # Type half of the words without accents, like a user whose keyboard has none.
            word = plain(word) if number % 2 else word.lower()
            for end in range(1, len(word) + 1):
                taken = letter(terminal, word[:end])
                times.append(PATIENCE * 1000 if taken is None else taken)
                if taken is None:
                    never.append(word[:end])
            terminal.type("\x1b")
            terminal.rest(0.1)
            if terminal.screen.line(0)[:10] != title:
                raise Trouble("Escape left the list, and not the search.")
    for percent in (50, 99):
        yield Figure(
            "search", f"{what}p{percent}", ours=percentile(times, percent), unit="ms",
            limit=LIMIT if percent == 99 else None,
            note=f"{len(times)} letters of {SEARCHES} words" + (f"; never found: {never}" if never else ""))
