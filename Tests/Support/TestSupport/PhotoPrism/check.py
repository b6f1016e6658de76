"""Reads from the stand-in with the Python package `aiophotoprism`.

    check.py URL USER PASSWORD

Prints the ids of the photos that a search finds, one a line, without repetition. The package was written for PhotoPrism by
others.
"""
import asyncio
import sys
import warnings

import aiohttp
from aiophotoprism import Photoprism
from aiophotoprism.exceptions import PhotoprismBadRequestError, PhotoprismError


async def main():
    url, user, password = sys.argv[1:]
    async with Photoprism(user, password, url=url) as client:
        config = await client.config()
        assert config.name == "PhotoPrism" and config.mode == "user"
        # As the server's own pages ask: a photo with two files may be on two pages.
        ids, offset = [], 0
        while True:
            photos = await client.photos(count=100, offset=offset, merged="true", photo="true", order="oldest")
            if not photos:
                break
            ids += [photo.UID for photo in photos]
            offset += sum(len(photo.Files) for photo in photos)
        seen = dict.fromkeys(ids)
        # As Vitrine asks: there is one file for each photo.
        found = []
        while len(found) % 1000 == 0:
            page = await client.photos(
                count=1000, offset=len(found), order="oldest", primary="true", photo="true", public="true", quality=3)
            if not page:
                break
            found += [photo.UID for photo in page]
        assert found == list(seen), (len(found), len(seen))
        # The photos of a person and of an album, as Vitrine asks for them.
        person = await client.photos(count=1000, offset=0, order="oldest", primary="true", photo="true", public="true",
                                     q="subject:js000000000000aa")
        album = await client.photos(count=1000, offset=0, order="oldest", primary="true", photo="true", s="aqcd0000000000bb")
        assert [photo.UID for photo in person] == found[5:6] and [photo.UID for photo in album] == found[1:3]
        try:
            await client.photos()
            raise AssertionError("a search without a count succeeded")
        except PhotoprismBadRequestError:
            pass
    try:
        async with Photoprism(user, "wrong", url=url) as client:
            await client.photos(count=1)
        raise AssertionError("a wrong password was accepted")
    except PhotoprismError:
        pass
    print("\n".join(found))


if __name__ == "__main__":
    # Newer versions of `aiohttp` dislike how the package states that certificates are checked.
    warnings.simplefilter("ignore", DeprecationWarning)
    asyncio.run(main())
