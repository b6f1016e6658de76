"""Keys in a large gallery: from the key to its frame."""
import re

from figure import Figure, percentile
from process import Trouble

#: Milliseconds, for 99 of 100 keys.
LIMIT = 8
KEYS = 1_000
#: The time limit of a frame, in seconds.
PATIENCE = 1.0
#: Seconds between keys: more than between frames, about as with a held key.
PAUSE = (0.020, 0.040)

NAMES = {
    "\x1b[6~": "page down", "\x1bOF": "End", "\x1bOH": "Home", "}": "next section", "{": "section before",
    "n": "next that is found",
}
PAGE, LAST, FIRST, NEXT, BEFORE, FOUND = NAMES
#: The keys without effect at the beginning and at the end.
BACKWARD, FORWARD = {FIRST, BEFORE}, {PAGE, LAST, NEXT}
WORD = "lighthouse"
#: The character of blurred pictures.
HALF_BLOCK = "▀"


def place(screen):
    """Selected photo and count from the first line; None if they are missing."""
    found = re.search(r"(\d[\d,.']*) of (\d[\d,.']*)", screen.line(0))
    return tuple(int(re.sub(r"\D", "", part)) for part in found.groups()) if found else (0, 0)


def usable(screen, keys, end):
    """The keys that have an effect at the current position. `end` comes from `end_after`: during a search the screen shows no position."""
    number, count = place(screen)
    useless = BACKWARD if number == 1 or end == FIRST else FORWARD if (number and number == count) or end == LAST else set()
    return [key for key in keys if key not in useless]


def end_after(key, had_effect):
    """`FIRST` or `LAST` if the key certainly led to an end of the gallery, else None."""
    if key in (FIRST, LAST):
        return key
    return None if had_effect else LAST if key in FORWARD else FIRST if key in BACKWARD else None


def press(terminal, key):
    """Milliseconds from a key to its frame; None without an effect."""
    pressed = terminal.type(key)
    shown = terminal.change(PATIENCE)
    return None if shown is None else (shown - pressed) * 1000


def is_lost(terminal, key):
    """Whether a key that did nothing should have moved: it is no key of an end, or the key of that end still moves."""
    edge = end_after(key, False)
    return edge is None or press(terminal, edge) is not None


def known_keys(terminal):
    """The keys that this Vitrine knows."""
    known = [PAGE, LAST, FIRST]
    if press(terminal, NEXT) is not None:
        known += [NEXT, BEFORE]
    if press(terminal, "/") is not None:
        for text in (WORD, "\r"):
            terminal.type(text)
            terminal.rest(0.3)
        if press(terminal, FOUND) is not None:
            known.append(FOUND)
    return known


def measure(workshop):
    gallery = workshop.gallery(workshop.many)
    yield from figures(workshop, gallery, None, f"a key in {gallery.photos:,} photos")
    home, address = workshop.home_with_blurred_pictures(gallery)
    yield from figures(workshop, address, home, "… with blurred pictures")
    workshop.discard(home)


def figures(workshop, gallery, home, what):
    """Measures keys in a gallery with its usual home, or at an address with another home."""
    times, lost, end = {}, [], None
    with workshop.browse(gallery, home) as terminal:
        terminal.rest(1)
        if home and HALF_BLOCK not in terminal.screen.body[1]:
            raise Trouble("There are no blurred pictures.")
        known = known_keys(terminal)
        for _ in range(KEYS):
            terminal.rest_for(workshop.chance.uniform(*PAUSE))
            key = workshop.chance.choice(usable(terminal.screen, known, end))
            taken = press(terminal, key)
            end = end_after(key, taken is not None)
            if taken is None and is_lost(terminal, key):
                lost.append(key)
                taken = PATIENCE * 1000
            if taken is not None:
                times.setdefault(key, []).append(taken)
    taken = [time for some in times.values() for time in some]
    for percent in (50, 99):
        yield Figure(
            "keys", f"{what}, p{percent}", ours=percentile(taken, percent), unit="ms",
            limit=LIMIT if percent == 99 else None, note=told(times, lost) if percent == 99 else "")
    if missing := [name for key, name in NAMES.items() if key not in known]:
        yield Figure("keys", "… " + ", ".join(missing), missing="this Vitrine has no such keys")


def told(times, lost):
    """The keys one by one."""
    parts = [f"{NAMES[key]} {percentile(some, 99):.1f}" for key, some in times.items()]
    parts += [f"{NAMES[key]} without a frame {lost.count(key)} times" for key in sorted(set(lost))]
    return f"{sum(map(len, times.values()))} keys; p99: " + ", ".join(parts)
