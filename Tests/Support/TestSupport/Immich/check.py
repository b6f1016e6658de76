"""Checks the stand-in's answers with the Python package `immichpy`.

    check.py URL KEY ALBUM SHARE

Prints the ids of the photos that a search finds, one a line. `immichpy` is generated from Immich's description.
"""
import asyncio
import json
import sys
import typing

import immich
from immichpy import AsyncClient
from immichpy.client.generated.api.albums_api import AlbumsApi
from immichpy.client.generated.api.people_api import PeopleApi
from immichpy.client.generated.api.timeline_api import TimelineApi
from immichpy.client.generated.models.metadata_search_dto import MetadataSearchDto


def check_fields():
    """Checks that the stand-in knows the same fields as the description."""
    fields = {field.alias or name for name, field in MetadataSearchDto.model_fields.items()}
    assert set(immich.SEARCH) == fields, set(immich.SEARCH) ^ fields
    methods = (
        (TimelineApi.get_time_buckets, immich.BUCKETS), (TimelineApi.get_time_bucket, immich.BUCKET),
        (AlbumsApi.get_all_albums, immich.ALBUMS), (PeopleApi.get_all_people, immich.PEOPLE))
    for method, known in methods:
        names = {name for name in typing.get_type_hints(method, include_extras=True) if not name.startswith("_")} - {"return"}
        assert {name.replace("_", "").lower() for name in names} == {name.lower() for name in known}, names


async def main():
    url, key, album, share = sys.argv[1:]
    check_fields()
    client = AsyncClient(api_key=key, base_url=url)
    try:
        version = await client.server.get_server_version()
        assert version.major >= 2
        page, ids = 1, []
        while page:
            # As Vitrine writes it.
            query = {"page": page, "size": 1000, "order": "asc", "type": "IMAGE", "visibility": "timeline",
                     "withExif": True, "withPeople": True}
            found = await client.search.search_assets(MetadataSearchDto.from_dict(query))
            ids += [str(asset.id) for asset in found.assets.items]
            assert all(asset.exif_info.make == "FUJIFILM" for asset in found.assets.items)
            shown = [person.name for asset in found.assets.items for person in asset.people]
            assert shown == (["Grandma"] if page == 1 else []), shown
            page = int(found.assets.next_page) if found.assets.next_page else None
        for query in ({"albumIds": [album]}, {"isFavorite": True}, {"updatedAfter": "2024-01-01T00:00:05.5Z"}):
            await client.search.search_assets(MetadataSearchDto.from_dict(query))
        albums = await client.albums.get_all_albums()
        assert [str(one.id) for one in albums] == [album] and albums[0].asset_count == 3
        people = await client.people.get_all_people(with_hidden=False, size=1000, page=1)
        assert [one.name for one in people.people] == ["Grandma"] and not people.has_next_page
        tags = await client.tags.get_all_tags()
        assert [tag.value for tag in tags] == ["Trips", "Trips/Rome"] and str(tags[1].parent_id) == str(tags[0].id), tags
        tagged = await client.search.search_assets(MetadataSearchDto.from_dict({"tagIds": [tags[0].id]}))
        assert len(tagged.assets.items) == 2
        counts = await client.timeline.get_time_buckets(visibility="timeline", with_partners=True)
        total = 0
        for month in counts:
            bucket = await client.timeline.get_time_bucket(
                time_bucket=month.time_bucket, visibility="timeline", with_partners=True)
            assert len(bucket.id) == month.count == len(bucket.thumbhash)
            total += sum(bucket.is_image)
        assert total == len(ids), (total, len(ids))
        assert (await client.assets.view_asset(id=ids[0], size="thumbnail")).startswith(b"\xff\xd8")
        assert (await client.assets.download_asset(id=ids[0])).startswith(b"\xff\xd8")
    finally:
        await client.close()
    client = AsyncClient(base_url=url)
    try:
        link = await client.shared_links.get_my_shared_link(_headers={"x-immich-share-key": share})
        assert link.key == share
        buckets = await client.timeline.get_time_buckets(album_id=album, _headers={"x-immich-share-key": share})
        assert sum(month.count for month in buckets) > 0
    finally:
        await client.close()
    print("\n".join(ids))


if __name__ == "__main__":
    asyncio.run(main())
