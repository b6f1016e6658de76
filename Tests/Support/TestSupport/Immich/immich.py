"""A stand-in for an Immich server, with made-up photos.

    immich.py PORT LOG SETTINGS CONTROL

SETTINGS is a file with a JSON object; every member may be missing:

    photos    the number of photos at the start
    videos    the number of photos after which a video follows; by default 0, for no videos
    perMonth  the number of photos and videos in a month
    keys      an object from API key to its permissions; ["all"] for all
    albums    an object from the id of an album to the numbers of its photos
    names     an object from the id of an album or a person to its name; people without a name are unnamed
    hidden    the ids of the people that the user hides
    others    the ids of the albums that other users share
    version   the server's version, by default 3; servers before version 3 list the albums of others only if asked to
    partner   the numbers of the photos that belong to the user's partner; searches find the partner's favorites, too
    people    an object from the id of a person to the numbers of the photos that show the person
    tags      an object from the value of a tag, such as "Trips/Rome", to the numbers of the photos that have the tag
    shares    an object from the key of a shared link to {"album": ID} or {"photos": [NUMBERS]}, and perhaps
              {"password": TEXT}, {"slug": TEXT} or {"isForViewing": true}

LOG gets a line for each request before the answer is sent: method, path, page and status. Each line that a test appends to
CONTROL is a JSON object, which the next request obeys:

    {"add": "2024-05-06T12:00:00.000Z", "name": "a.jpg"}    adds a photo, which was taken at this time on the camera's clock
    {"delete": NUMBER}                                      deletes a photo
    {"change": NUMBER, …}                                   replaces members of a photo, also those of its `exifInfo`
    {"fault": NAME, "page": NUMBER}                         repeats the page before, stops the server, truncates the answer, or
                                                            once answers that it is busy, if the page with this number is
                                                            asked for
    {"tags": {…}}                                           replaces the tags
    {"raw": {PATH: TEXT}}                                   the texts to send for paths

It is written from Immich's published description of its programming interface, which the Python package `immichpy` contains.
Tests let `immichpy` check the answers, and this server refuses the requests that the description forbids. It differs from
Immich in three ways: it has no sessions, it stores no uploads, and the pictures are grey squares.
"""
import base64
import datetime
import hashlib
import http.server
import json
import os
import re
import sys
import threading
import urllib.parse
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "StandIn"))
from standin import jpeg, serve  # noqa: E402

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)")
OWNER, PARTNER = "00000000-0000-4000-8000-00000000cafe", "00000000-0000-4000-8000-00000000beef"
USER = {
    "avatarColor": "blue", "email": "me@example.org", "id": OWNER, "name": "Me", "profileChangedAt": "2024-01-01T00:00:00.000Z",
    "profileImagePath": "",
}
VISIBILITIES = ["archive", "timeline", "hidden", "locked"]
SIZES = ["original", "fullsize", "preview", "thumbnail"]
# The fields of requests, with their types. A list names the possible texts.
SEARCH = {
    "albumIds": "ids", "checksum": str, "city": str, "country": str, "createdAfter": "time", "createdBefore": "time",
    "cursor": str, "description": str, "encodedVideoPath": str, "filter": dict, "id": "id", "isEncoded": bool,
    "isFavorite": bool, "isMotion": bool, "isNotInAlbum": bool, "isOffline": bool, "lensModel": str, "libraryId": "id",
    "make": str, "model": str, "ocr": str, "order": ["asc", "desc"], "orderBy": dict, "originalFileName": str,
    "originalPath": str, "page": (1, 9007199254740991), "personIds": "ids", "previewPath": str, "rating": (1, 5),
    "size": (1, 1000), "state": str, "tagIds": "ids", "takenAfter": "time", "takenBefore": "time", "thumbnailPath": str,
    "trashedAfter": "time", "trashedBefore": "time", "type": ["IMAGE", "VIDEO", "AUDIO", "OTHER"], "updatedAfter": "time",
    "updatedBefore": "time", "visibility": VISIBILITIES, "withDeleted": bool, "withExif": bool, "withPeople": bool,
    "withStacked": bool,
}
# The fields of a search that may be null.
NULLABLE = {"city", "country", "lensModel", "libraryId", "make", "model", "rating", "state", "tagIds"}
BUCKETS = {
    "albumId": "id", "bbox": str, "isFavorite": ["true", "false"], "isTrashed": ["true", "false"], "key": str,
    "order": ["asc", "desc"], "orderBy": ["takenAt", "createdAt"], "personId": "id", "slug": str, "tagId": "id", "userId": "id",
    "visibility": VISIBILITIES, "withCoordinates": ["true", "false"], "withPartners": ["true", "false"],
    "withStacked": ["true", "false"],
}
BUCKET = {**BUCKETS, "timeBucket": re.compile(r"\d{4}-\d\d-\d\d")}
# The description does not have `c`; it says that the field `thumbhash` is "also used as the c query param".
PICTURE = {"edited": ["true", "false"], "key": str, "slug": str, "c": str}
VIEW = {**PICTURE, "size": SIZES}
SHARE = {"key": str, "slug": str}
ALBUMS = {"assetId": "id", "id": "id", "isOwned": ["true", "false"], "isShared": ["true", "false"], "name": str}
OLD_ALBUMS = {"assetId": "id", "shared": ["true", "false"]}
PEOPLE = {
    "closestAssetId": "id", "closestPersonId": "id", "isFavorite": ["true", "false"], "isHidden": ["true", "false"], "name": str,
    "page": re.compile(r"[1-9]\d{0,15}"), "sharedById": "id", "sharedWithId": "id",
    "size": re.compile(r"[1-9]\d{0,2}|1000"), "withHidden": ["true", "false"],
}
PAGE = b"<!doctype html><html><head><title>Immich</title></head><body><div>Loading</div></body></html>"


class Refusal(Exception):
    def __init__(self, status, message):
        self.status, self.message = status, message


def tag_id(value):
    """Returns the id of a tag."""
    return str(uuid.UUID(bytes=hashlib.sha1(value.encode()).digest()[:16], version=4))


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def text(moment):
    return moment.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (moment.microsecond // 1000)


class Asset:
    """A photo or video."""

    def __init__(self, number, name, taken, kind, updated, people):
        digest = hashlib.sha1(b"%d" % number).digest()
        self.number = number
        self.people = lambda: people(number)
        self.taken = taken
        self.deleted = False
        self.facts = {
            "checksum": base64.b64encode(digest).decode(), "createdAt": text(updated), "duration": None,
            # The camera's clock was two hours ahead of UTC.
            "fileCreatedAt": text(taken - datetime.timedelta(hours=2)), "fileModifiedAt": text(taken), "hasMetadata": True,
            "height": 3000, "id": "%08x-0000-4000-8000-%012x" % (int.from_bytes(digest[:4], "big"), number),
            "isArchived": False, "isEdited": False, "isFavorite": number % 10 == 3, "isOffline": False, "isTrashed": False,
            "libraryId": None, "livePhotoVideoId": None, "localDateTime": text(taken),
            "originalFileName": name, "originalMimeType": "image/jpeg" if kind == "IMAGE" else "video/mp4",
            "originalPath": "/data/library/admin/2024/" + name, "ownerId": OWNER,
            "thumbhash": base64.b64encode(hashlib.sha512(digest).digest()[:25]).decode(), "type": kind,
            "updatedAt": text(updated), "visibility": "timeline", "width": 4000, "duplicateId": None,
        }
        self.exif = {
            "city": None, "country": None, "dateTimeOriginal": text(taken), "description": "", "exifImageHeight": 3000,
            "exifImageWidth": 4000, "exposureTime": "1/250", "fNumber": 2.8, "fileSizeInByte": 3_000_000, "focalLength": 35,
            "iso": 200, "latitude": None, "lensModel": "XF35mmF2 R WR", "longitude": None, "make": "FUJIFILM",
            "model": "X-T4", "modifyDate": text(taken), "orientation": "1", "projectionType": None, "rating": None,
            "state": None, "timeZone": "UTC+2",
        }
        if kind != "IMAGE":
            self.facts["duration"] = 5000
        self.written = {}

    def json(self, more=()):
        """Returns the asset as JSON, with the facts that a search asks for: `exifInfo` and `people`."""
        if more not in self.written:
            facts = {**self.facts, **({"exifInfo": self.exif} if "withExif" in more else {})}
            # The server does not tell which photos are favorites of others.
            facts["isFavorite"] = facts["isFavorite"] and facts["ownerId"] == OWNER
            if "withPeople" in more:
                facts["people"] = self.people()
            self.written[more] = json.dumps(facts).encode()
        return self.written[more]

    def change(self, facts, updated):
        self.exif.update(facts.pop("exifInfo", {}))
        self.facts.update(facts)
        self.facts["updatedAt"] = facts.get("updatedAt", text(updated))
        self.taken = moment(self.facts["localDateTime"])
        self.written = {}

    @property
    def month(self):
        return self.facts["localDateTime"][:7] + "-01"


class Library:
    def __init__(self, settings, control):
        self.settings = settings
        self.control = control
        self.read = 0
        self.fault = {}
        self.raw = {}
        self.assets = []
        self.version = settings.get("version", 3)
        self.ids = {}
        self.lock = threading.Lock()
        self.found = {}
        per_month = settings.get("perMonth", 800)
        videos = settings.get("videos", 0)
        start = datetime.datetime(2010, 1, 1, 10, tzinfo=datetime.timezone.utc)
        self.updated = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
        count = 0
        while count < settings.get("photos", 0):
            number = len(self.assets)
            kind = "VIDEO" if videos and number % (videos + 1) == videos else "IMAGE"
            month = number // per_month
            taken = start.replace(year=start.year + month // 12, month=1 + month % 12)
            taken += datetime.timedelta(minutes=number % per_month * 40_000 // per_month)
            self.add("IMG_%06d.%s" % (number, "jpg" if kind == "IMAGE" else "mp4"), taken, kind)
            count += kind == "IMAGE"

    def add(self, name, taken, kind="IMAGE"):
        self.updated += datetime.timedelta(seconds=1)
        asset = Asset(len(self.assets), name, taken, kind, self.updated, self.people_in)
        if asset.number in self.settings.get("partner", []):
            asset.facts["ownerId"] = PARTNER
        self.assets.append(asset)
        self.ids[asset.facts["id"]] = asset
        self.found = {}

    def people_in(self, number):
        """Returns the people that a photo shows."""
        return [self.person(one) for one, numbers in self.settings.get("people", {}).items() if number in numbers]

    def person(self, identifier):
        return {
            "birthDate": None, "id": identifier, "isFavorite": False, "isHidden": identifier in self.settings.get("hidden", []),
            "name": self.settings.get("names", {}).get(identifier, ""), "otherPeople": [], "sharedBy": [], "sharedWith": [],
            "thumbnailPath": "/data/thumbs/%s.jpeg" % identifier, "updatedAt": "2024-01-01T00:00:00.000Z",
        }

    def tags(self):
        """Returns the values of all tags, with the outer tags."""
        values = {
            "/".join(tag.split("/")[:count + 1]) for tag in self.settings.get("tags", {}) for count in range(tag.count("/") + 1)}
        return sorted(values)

    def obey(self):
        """Obeys the new lines of the control file."""
        with self.lock:
            with open(self.control, "rb") as file:
                file.seek(self.read)
                rest = file.read()
            end = rest.rfind(b"\n") + 1
            self.read += end
            for line in rest[:end].splitlines():
                order = json.loads(line)
                self.updated += datetime.timedelta(seconds=1)
                self.found = {}
                if "add" in order:
                    self.add(order["name"], moment(order.pop("add")))
                    self.assets[-1].facts.update({"originalFileName": order.pop("name"), **order})
                elif "delete" in order:
                    self.assets[order["delete"]].deleted = True
                elif "change" in order:
                    self.assets[order.pop("change")].change(order, self.updated)
                elif "fault" in order:
                    self.fault = order
                elif "raw" in order:
                    self.raw = order["raw"]
                elif "tags" in order:
                    self.settings["tags"] = order["tags"]
                elif "album" in order:
                    self.settings["albums"][order["album"]] = order["photos"]

    def search(self, query):
        """Returns the photos and videos that a search finds, oldest first."""
        chosen = json.dumps({name: query[name] for name in sorted(query) if name not in ("page", "size", "withExif", "withPeople")})
        with self.lock:
            if chosen not in self.found:
                self.found[chosen] = self.sought(query)
            return self.found[chosen]

    def sought(self, query):
        found = [asset for asset in self.assets if not asset.deleted]
        for members, kind in (("albums", "albumIds"), ("people", "personIds")):
            for group in query.get(kind, []):
                numbers = set(self.settings.get(members, {}).get(group, []))
                found = [asset for asset in found if asset.number in numbers]
        for identifier in query.get("tagIds") or []:
            # A search for a tag also finds the photos of the tags in it.
            value = next((tag for tag in self.tags() if tag_id(tag) == identifier), None)
            numbers = {
                number for tag, numbers in self.settings.get("tags", {}).items() if f"{tag}/".startswith(f"{value}/")
                for number in numbers}
            found = [asset for asset in found if asset.number in numbers]
        if "updatedAfter" in query:
            since = moment(query["updatedAfter"])
            found = [asset for asset in found if moment(asset.facts["updatedAt"]) >= since]
        visible = [query["visibility"]] if "visibility" in query else ["archive", "timeline"]
        found = [asset for asset in found if asset.facts["visibility"] in visible and not asset.facts["isTrashed"]]
        for name in ("type", "isFavorite"):
            if name in query:
                found = [asset for asset in found if asset.facts[name] == query[name]]
        found.sort(key=lambda asset: asset.facts["fileCreatedAt"], reverse=query.get("order", "desc") == "desc")
        return found

    def bucketed(self, query):
        """Returns the photos and videos of a timeline, newest first."""
        if query.get("withPartners") == "true" and (query.get("visibility") != "timeline" or "isFavorite" in query):
            raise Refusal(400, "withPartners is only supported for non-archived, non-trashed, non-favorited, non-locked assets")
        search = {}
        for name, value in query.items():
            if name == "isFavorite":
                search[name] = value == "true"
            elif name == "visibility":
                search[name] = value
            elif name == "albumId":
                search["albumIds"] = [value]
            elif name == "personId":
                search["personIds"] = [value]
        others = [] if query.get("withPartners") == "true" or "albumId" in query else self.settings.get("partner", [])
        return [asset for asset in self.search(search) if asset.number not in others]


def check(fields, allowed, what):
    """Refuses fields that the description lacks, and values of another type."""
    for name, value in fields.items():
        kind = allowed.get(name)
        if kind is None:
            raise Refusal(400, "%s: property %s should not exist" % (what, name))
        if value is None and name in NULLABLE:
            continue
        if kind == "ids":
            sound = isinstance(value, list) and all(isinstance(one, str) and UUID.fullmatch(one) for one in value)
        elif kind == "id":
            sound = isinstance(value, str) and UUID.fullmatch(value)
        elif kind == "time":
            sound = isinstance(value, str) and TIME.fullmatch(value)
        elif isinstance(kind, list):
            sound = value in kind
        elif isinstance(kind, tuple):
            sound = isinstance(value, int) and not isinstance(value, bool) and kind[0] <= value <= kind[1]
        elif isinstance(kind, re.Pattern):
            sound = kind.fullmatch(value)
        else:
            sound = isinstance(value, kind)
        if not sound:
            raise Refusal(400, "%s: %s must not be %r" % (what, name, value))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.handle_request()

    def do_POST(self):
        self.handle_request()

    def do_PROPFIND(self):
        self.handle_request()

    def handle_request(self):
        library = self.server.library
        library.obey()
        self.body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.page = ""
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        try:
            if url.path in library.raw:
                return self.send(200, library.raw[url.path].encode())
            self.route(library, url.path, query)
        except Refusal as refusal:
            names = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 503: "Service Unavailable"}
            self.send_json({
                "message": refusal.message, "error": names[refusal.status], "statusCode": refusal.status,
                "correlationId": "k3v1n7x2",
            }, refusal.status)

    def route(self, library, path, query):
        if self.command == "PROPFIND":
            return self.send(404, b"")
        if path == "/.well-known/immich":
            return self.send_json({"api": {"endpoint": "/api"}})
        if path == "/api/server/version":
            return self.send_json({"major": library.version, "minor": 2, "patch": 0, "prerelease": None})
        if path == "/api/search/metadata" and self.command == "POST":
            self.allow("asset.read")
            return self.search(library)
        if path == "/api/timeline/buckets":
            check(query, BUCKETS, "query")
            share = self.allow("asset.read", sharing=True)
            counts = {}
            for asset in self.timeline(library, query, share):
                counts[asset.month] = counts.get(asset.month, 0) + 1
            months = sorted(counts, reverse=True)
            return self.send_json([{"timeBucket": month, "count": counts[month]} for month in months])
        if path == "/api/timeline/bucket":
            check(query, BUCKET, "query")
            share = self.allow("asset.read", sharing=True)
            month = query.get("timeBucket", "")
            self.page = month
            found = [asset for asset in self.timeline(library, query, share) if asset.month == month]
            return self.send_json(self.columns(found))
        if path == "/api/albums":
            check(query, ALBUMS if library.version > 2 else OLD_ALBUMS, "query")
            self.allow("album.read")
            return self.send_json(self.albums(library, query))
        if path == "/api/people":
            check(query, PEOPLE, "query")
            self.page = query.get("page", "1")
            self.allow("person.read")
            return self.send_json(self.people(library, query))
        if path == "/api/tags":
            check(query, {}, "query")
            self.allow("tag.read")
            return self.send_json([self.tag(value) for value in library.tags()])
        if path == "/api/shared-links/me":
            check(query, SHARE, "query")
            share = self.share()
            if share is None:
                raise Refusal(401, "Authentication required")
            return self.send_json(self.shared_link(library, share))
        match = re.fullmatch("/api/assets/([0-9a-f-]{36})/(thumbnail|original)", path)
        if match:
            return self.picture(library, match, query)
        if path.startswith("/api/"):
            raise Refusal(404, "Cannot %s %s" % (self.command, path))
        if path.startswith("/.well-known/") or path.endswith(".php"):
            return self.send(404, b"Not Found", "text/plain")
        self.send(200, PAGE, "text/html")

    def share(self):
        key, slug = self.headers.get("x-immich-share-key"), self.headers.get("x-immich-share-slug")
        if key is None and slug is None:
            return None
        for known, share in self.server.library.settings.get("shares", {}).items():
            if key == known or slug is not None and slug == share.get("slug"):
                if share.get("password"):
                    raise Refusal(401, "Password required")
                return {"key": known, **share}
        raise Refusal(401, "Invalid share key" if slug is None else "Invalid share slug")

    def allow(self, permission, sharing=False):
        """Refuses a request without a key, or with a key that lacks a permission. Returns the shared link."""
        key = self.headers.get("x-api-key")
        if key is None:
            share = self.share() if sharing else None
            if share is None:
                raise Refusal(401, "Authentication required")
            return share
        permissions = self.server.library.settings.get("keys", {}).get(key)
        if permissions is None:
            raise Refusal(401, "Invalid API key")
        if "all" not in permissions and permission not in permissions:
            raise Refusal(403, "Missing required permission: " + permission)
        return None

    def timeline(self, library, query, share):
        if share and "photos" in share:
            return [library.assets[number] for number in share["photos"]]
        if share and query.get("albumId") != share["album"]:
            raise Refusal(400, "Not found or no album.read access")
        return library.bucketed(query)

    def search(self, library):
        try:
            query = json.loads(self.body)
        except ValueError:
            raise Refusal(400, "the body is not JSON") from None
        check(query, SEARCH, "body")
        page, size = query.get("page", 1), query.get("size", 250)
        self.page = "%d" % page
        if library.fault.get("page") == page:
            if library.fault["fault"] == "gone":
                os._exit(1)
            if library.fault["fault"] == "busy":
                library.fault = {}
                raise Refusal(503, "Please come back later")
            if library.fault["fault"] == "repeat":
                page -= 1
        found = library.search(query)
        items = found[(page - 1) * size:page * size]
        following = '"%d"' % (page + 1) if page * size < len(found) else "null"
        more = tuple(name for name in ("withExif", "withPeople") if query.get(name))
        body = (
            b'{"albums":{"total":0,"count":0,"items":[],"facets":[]},"assets":{"total":%d,"count":%d,"items":[' %
            (len(items), len(items)) + b",".join(asset.json(more) for asset in items) +
            b'],"facets":[],"nextPage":' + following.encode() + b',"nextCursor":null}}')
        cut = library.fault.get("fault") == "cut" and library.fault["page"] == page
        self.send(200, body, "application/json; charset=utf-8", cut=cut)

    @staticmethod
    def columns(assets):
        facts = [asset.facts for asset in assets]
        return {
            "city": [None] * len(facts), "country": [None] * len(facts), "createdAt": [one["createdAt"] for one in facts],
            "duration": [one["duration"] for one in facts], "fileCreatedAt": [one["fileCreatedAt"] for one in facts],
            "id": [one["id"] for one in facts], "isFavorite": [one["isFavorite"] for one in facts],
            "isImage": [one["type"] == "IMAGE" for one in facts], "isTrashed": [one["isTrashed"] for one in facts],
            "livePhotoVideoId": [one["livePhotoVideoId"] for one in facts], "localOffsetHours": [2] * len(facts),
            "ownerId": [one["ownerId"] for one in facts], "projectionType": [None] * len(facts), "ratio": [1.5] * len(facts),
            "thumbhash": [one["thumbhash"] for one in facts], "visibility": [one["visibility"] for one in facts],
        }

    @staticmethod
    def album(library, identifier):
        numbers = library.settings["albums"][identifier]
        return {
            "albumName": library.settings.get("names", {}).get(identifier, "Album"),
            "albumThumbnailAssetId": library.assets[numbers[0]].facts["id"] if numbers else None,
            "albumUsers": [{"role": "owner", "user": USER}], "assetCount": len(numbers),
            "createdAt": "2024-01-01T00:00:00.000Z", "description": "", "hasSharedLink": True, "id": identifier,
            "isActivityEnabled": False, "order": "desc", "shared": True, "updatedAt": "2024-01-01T00:00:00.000Z",
        }

    @classmethod
    def albums(cls, library, query):
        others = library.settings.get("others", [])
        albums = [cls.album(library, identifier) for identifier in library.settings.get("albums", {})]
        if library.version < 3 and "shared" not in query:
            albums = [album for album in albums if album["id"] not in others]
        return albums

    @staticmethod
    def people(library, query):
        hidden = library.settings.get("hidden", [])
        people = [
            library.person(identifier) for identifier in library.settings.get("people", {})
            if query.get("withHidden") == "true" or identifier not in hidden
        ]
        people.sort(key=lambda person: person["name"] == "")
        page, size = int(query.get("page", "1")), int(query.get("size", "500"))
        return {
            "hasNextPage": page * size < len(people), "hidden": len(hidden), "people": people[(page - 1) * size:page * size],
            "total": len(people),
        }

    @staticmethod
    def tag(value):
        outer, _, name = value.rpartition("/")
        facts = {
            "createdAt": "2024-01-01T00:00:00.000Z", "id": tag_id(value), "name": name, "updatedAt": "2024-01-01T00:00:00.000Z",
            "value": value,
        }
        return {**facts, "parentId": tag_id(outer)} if outer else facts

    @classmethod
    def shared_link(cls, library, share):
        album, assets = None, []
        if "album" in share:
            album = cls.album(library, share["album"])
        else:
            assets = [json.loads(library.assets[number].json(("withExif",))) for number in share["photos"]]
        link = {
            "allowDownload": not share.get("isForViewing"), "allowUpload": False, "assets": assets, "createdAt": "2024-01-01T00:00:00.000Z",
            "description": None, "expiresAt": None, "id": "00000000-0000-4000-8000-0000000000aa", "key": share["key"],
            "password": None, "showMetadata": True, "slug": None, "type": "ALBUM" if album else "INDIVIDUAL", "userId": OWNER,
        }
        return {**link, "album": album} if album else link

    def picture(self, library, match, query):
        identifier, kind = match.groups()
        check(query, VIEW if kind == "thumbnail" else PICTURE, "query")
        self.page = query.get("size", "")
        if query.get("edited") == "true":
            self.page = (self.page + " edited").strip()
        share = self.allow("asset.view" if kind == "thumbnail" else "asset.download", sharing=True)
        if share and share.get("isForViewing") and kind == "original":
            raise Refusal(403, "Forbidden")
        asset = library.ids.get(identifier)
        if asset is None or asset.deleted:
            raise Refusal(400, "Not found or no asset.view access")
        if kind == "thumbnail" and asset.facts["thumbhash"] is None:
            raise Refusal(404, "Asset media not found")
        # With a shared link, the server always sends the edited picture.
        is_edited = asset.facts["isEdited"] and (share is not None or query.get("edited") == "true")
        words = "%s %s %d" % (kind, query.get("size", ""), asset.number)
        self.send(200, jpeg(words + " edited" if is_edited else words), "image/jpeg")

    def send_json(self, value, status=200):
        self.send(status, json.dumps(value).encode(), "application/json; charset=utf-8")

    def send(self, status, body, kind="text/html", cut=False):
        line = " ".join(part for part in (self.command, self.path.split("?")[0], self.page, str(status)) if part)
        with self.server.library.lock, open(self.server.log, "a") as log:
            log.write(line + "\n")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:len(body) // 2] if cut else body)
        self.wfile.flush()
        if cut:
            self.close_connection = True


if __name__ == "__main__":
    serve(Handler, Library)
