"""Makes test galleries, the same in each run, byte for byte.

    python3 gallery.py FOLDER PHOTOS [mixed]

The ids of the photos are numbers in the order of the list. With `mixed`, they have no order, like those of photo libraries.

FOLDER gets `gallery.xml`, `rows.csv` with one line per photo, and `facts.json` with the facts that measurements need, so that
they need not read a quarter of a gigabyte.
"""
import datetime
import heapq
import json
import os
import pathlib
import random
import sys
import uuid

WORDS = (
    "Abend Åsa Autumn Bath Beach Before Birch Boat Bridge Brücke Café Castle Chapel Château Church Cloud Coast Corner "
    "Crossing Dawn Desert Dog Door Dusk Eclipse Église Étang Evening Fähre Fern Ferry Field First Fjord Fog Forest "
    "Fountain Frost Garden Gate Glacier Größe Grove Harbour Harvest Heath Heron Hill Holiday Horse House Île Inlet "
    "Island Jardin Jetty Kids Kite Kreuz Lac Ladder Lake Lantern Last Leaf Light Lighthouse Loch Łódź Market Marsh "
    "Meadow Mill Mist Montée Moon Morning Moss Mountain Museum Nest Niño Noon North Oak October Olive Orchard "
    "Österreich Owl Park Path Pear Picnic Pier Pines Plage Pond Poppy Porto Quarry Quay Rain Rainbow Reed Ridge River "
    "Road Rocks Roof Rose Sail Sand São Sea Señora Shadow Shed Shore Sister Sky Snow South Spring Square Stairs Star "
    "Station Steg Storm Street Strand Summer Sunrise Sunset Swan Tåg Temple Terrace Tide Tower Town Train Tulip Turm "
    "Valley View Village Vineyard Wall Walk Water Weg Well Wharf Willow Wind Window Winter Wood Yard Ystad Zoo Zürich"
).split()
JOINTS = "and at by from in near of on over the to with".split()

#: The range of dates: twenty-five years.
BEGINNING = datetime.datetime(2000, 1, 1)
SECONDS = 25 * 365 * 86_400 + 6 * 86_400


def photos(count):
    """Yields number, name and date of each photo."""
    chance = random.Random(20_000_101)
    for index in range(count):
        words = chance.choices(WORDS, k=chance.randint(3, 5))
        if len(words) > 3:
            words[chance.randrange(1, len(words) - 1)] = chance.choice(JOINTS)
        if chance.random() < 0.1:
            words[-1] = words[-1].upper()
        yield index, " ".join(words), chance.randrange(SECONDS)


def addresses(index, year):
    """The paths of a photo and its thumbnail in the list."""
    return f"images/{year}/IMG_{index:08d}.JPG", f"thumbnails/{year}/IMG_{index:08d}.jpg"


def write(folder, count, is_mixed, marks=99):
    """Writes a gallery.

    Records the first photos, and the file offsets of names that can be changed.
    """
    step = max(1, count // marks)
    earliest, spread, position = [], [], 0
    chance = random.Random(7)
    with open(folder / "gallery.xml", "wb") as xml, open(folder / "rows.csv", "w", encoding="utf-8") as rows:
        position += xml.write(b'<?xml version="1.0" encoding="UTF-8"?>\n<album>\n')
        for index, name, seconds in photos(count):
            date = (BEGINNING + datetime.timedelta(seconds=seconds)).isoformat() + "Z"
            image, thumbnail = addresses(index, date[:4])
            key = str(uuid.UUID(int=chance.getrandbits(128))) if is_mixed else f"photo-{index:08d}"
            head = '  <photo name="'
            text = (
                f'{head}{name}" date="{date}" id="{key}">\n    <image kind="image" srcURL="{image}"/>\n'
                f'    <image kind="thumbnail" srcURL="{thumbnail}"/>\n  </photo>\n'
            )
            rows.write(f"{key},{name},{date},{image},{thumbnail}\n")
            mark = (-seconds, -index, name, position + len(head))
            heapq.heappush(earliest, mark)
            if len(earliest) > 7:
                heapq.heappop(earliest)
            # A one-byte first letter can change without moving other bytes.
            if index // step == len(spread) and name[0].isascii():
                spread.append(mark[3])
            position += xml.write(text.encode())
        position += xml.write(b"</album>\n")
    earliest.sort(reverse=True)
    facts = {
        "photos": count, "bytes": position,
        "earliest": [{"name": name, "offset": offset} for _, _, name, offset in earliest],
        "offsets": spread,
    }
    (folder / "facts.json").write_text(json.dumps(facts, ensure_ascii=False, indent=1), encoding="utf-8")


if __name__ == "__main__":
    target, photo_count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    # Make it under a temporary name, so that it is complete or absent.
    draft = target.with_name(target.name + f".{os.getpid()}")
    draft.mkdir(parents=True)
    write(draft, photo_count, sys.argv[3:] == ["mixed"])
    draft.rename(target)
