"""A stand-in for a PhotoPrism server, with made-up photos.

    photoprism.py PORT LOG SETTINGS CONTROL

SETTINGS is a file with a JSON object; every member may be missing:

    photos     the number of photos at the start
    videos     the number of photos after which a video follows; by default 0, for no videos
    perMonth   the number of photos and videos in a month
    files      the number of photos of which one has a second file, such as a raw file; 0 for no second files
    passwords  an object from app password to its scope, "*" or the resources that it is for, such as "photos albums"
    users      an object from user name to password
    albums     an object from the id of an album to the numbers of its photos
    types      an object from the id of an album to its type, by default "album"
    people     an object from the id of a person to the numbers of the person's photos
    labels     an object from the slug of a label to the numbers of its photos
    customized an object from the slug of a label to the slug that it got when a user renamed it
    names      an object from the id of an album or person to its title, or to the path of a folder
    concealed  the ids of people whom the user has hidden
    shares     an object from the secret of a shared link to the ids of its albums
    hidden     an object from "private", "review" or "undated" to the numbers of such photos
    public     whether the server requires no password
    review     whether photos of low quality wait for a review, by default true
    base       the path below which the server is, such as "/photos"

LOG gets a line for each request before the answer is sent: method, path without token, details and status. Each line that a
test appends to CONTROL is a JSON object, which the next request obeys:

    {"add": "2024-05-06T12:00:00Z", "name": "a.jpg"}   adds a photo, which was taken at this time on the camera's clock
    {"delete": NUMBER}                                 deletes a photo
    {"change": NUMBER, …}                              replaces members of a photo
    {"main": NUMBER}                                   makes the second file of a photo its main file
    {"tokens": [PREVIEW, DOWNLOAD]}                    replaces the tokens for pictures
    {"restart": true}                                  forgets which tokens are valid, until a request with a password comes
    {"broken": [NUMBERS]}                              makes the thumbnails of these photos fail
    {"passwords": {…}}                                 replaces the app passwords
    {"review": BOOL}                                   changes whether photos of low quality wait for a review
    {"front": TEXT}                                    the "Authorization" that a web server in front of this one requires
    {"album": ID, "photos": [NUMBERS]}                 replaces the photos of an album
    {"removeAlbum": ID}                                deletes an album
    {"shares": {…}}                                    replaces the shared links; visitors stay
    {"fault": NAME, "page": OFFSET}                    repeats the page before, stops the server, or truncates the answer,
                                                       if the page with this offset is asked for
    {"raw": {PATH: TEXT}}                              the texts to send for paths

It is written from the published source of PhotoPrism's server, of December 2024. It differs from PhotoPrism in three ways: it
knows only the fields of a search that Vitrine or its tests use and refuses others, it stores nothing, and the pictures are grey
squares. The Python package `aiophotoprism` reads from it in a test.
"""
import datetime
import hashlib
import http.server
import json
import os
import re
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "StandIn"))
from standin import jpeg, serve  # noqa: E402

# The fields of a search and the forms of their values.
SEARCH = {
    "count": r"\d+", "offset": r"\d+", "order": "oldest|newest|added|", "merged": "true|false", "primary": "true|false",
    "photo": "true|false", "public": "true|false", "quality": r"\d", "favorite": "true|false|yes|no", "s": "[0-9a-z]+",
    "q": "(subject|person|label):[0-9a-z-]+", "year": r"\d+", "month": r"\d+", "updated": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
}
# The fields of requests for albums, people and labels.
ALBUMS = {
    "count": r"\d+", "offset": r"\d+", "order": "favorites|name|title|newest|added|edited|", "type": "album|folder|moment|month|state",
}
PEOPLE = {
    "count": r"\d+", "offset": r"\d+", "order": "name|count|added|relevance|", "type": "person", "files": r"\d+", "hidden": "yes|no",
}
LABELS = {"count": r"\d+", "offset": r"\d+", "order": "slug|count|", "all": "true|false"}
MOST = 100_000
PHOTO_TYPES = {"image", "live", "animated", "vector", "raw"}
SIZES = {
    "colors", "tile_50", "tile_100", "left_224", "right_224", "tile_224", "fit_720", "tile_500", "tile_1080", "fit_1280",
    "fit_1600", "fit_1920", "fit_2048", "fit_2560", "fit_3840", "fit_4096", "fit_7680",
}
APP_PASSWORD = re.compile(r"(?=.{27}$)[0-9A-Za-z]+(-[0-9A-Za-z]+){3}")
ACCESS_TOKEN = re.compile(r"[0-9a-f]{48}")
PAGE = b"<!doctype html><html><head><title>PhotoPrism</title></head><body><div id='photoprism'></div></body></html>"
SYMBOL = b'\n<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><path d="M21 5v6l-3-3"/></svg>'


class Refusal(Exception):
    MESSAGES = {400: "Unable to do that", 401: "Please log in to your account", 403: "Permission denied", 404: "Not found"}

    def __init__(self, status):
        self.status = status


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def text(moment):
    return moment.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def slug(name):
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")


class Photo:
    """A photo or video. It has a main file, which is a JPEG, and perhaps another file."""

    def __init__(self, number, name, taken, kind, updated, has_second_file):
        self.number = number
        self.deleted = self.favorite = self.private = False
        self.quality = 3
        digest = hashlib.sha1(b"%d" % number).hexdigest()
        self.files = [("f%015x" % (2 * number), digest, "2024/" + name.replace(".mp4", ".mp4.jpg"), True)]
        if has_second_file:
            second = hashlib.sha1(b"%d raw" % number).hexdigest()
            self.files.append(("f%015x" % (2 * number + 1), second, "2024/" + name.replace(".jpg", ".dng"), False))
        self.facts = {
            "UID": "p%015x" % number, "Type": kind, "TypeSrc": "", "TakenSrc": "meta", "TimeZone": "Europe/Berlin",
            "Path": "2024", "Name": name.rsplit(".", 1)[0], "OriginalName": "", "Title": "Photo %d" % number, "Description": "",
            "Country": "de", "Stack": 0, "Iso": 100, "FocalLength": 35, "FNumber": 2.8, "Exposure": "1/60", "Resolution": 12,
            "Color": 1, "Scan": False, "Panorama": False, "CameraID": 1, "CameraMake": "Maker", "CameraModel": "Model", "LensID": 1,
            "Lat": 0, "Lng": 0, "CellID": "zz", "PlaceID": "zz", "PlaceSrc": "", "PlaceLabel": "Unknown", "PlaceCity": "Unknown",
            "PlaceState": "Unknown", "PlaceCountry": "zz",
        }
        self.set_taken(taken)
        self.created = self.updated = updated

    def set_taken(self, local):
        # The camera's clock was two hours ahead of UTC.
        self.taken = local - datetime.timedelta(hours=2)
        self.facts.update({
            "TakenAt": text(self.taken), "TakenAtLocal": text(local), "Year": local.year, "Month": local.month, "Day": local.day,
        })

    def choose_main(self):
        # The server does not change the time of the photo's record.
        self.files = [file[:3] + (not file[3],) for file in self.files]

    def change(self, facts, updated):
        if set(facts) == {"favorite"}:
            # The same holds for the favorites.
            updated = self.updated
        if "TakenAtLocal" in facts:
            self.set_taken(moment(facts.pop("TakenAtLocal")))
        if "Hash" in facts:
            self.files[0] = (self.files[0][0], facts.pop("Hash")) + self.files[0][2:]
        if "FileName" in facts:
            self.files[0] = self.files[0][:2] + (facts.pop("FileName"), True)
        self.updated = moment(facts.pop("UpdatedAt")) if "UpdatedAt" in facts else updated
        for name in ("private", "quality", "favorite"):
            if name in facts:
                setattr(self, name, facts.pop(name))
        self.facts.update(facts)

    def row(self, index):
        """Returns the object that describes one file of the photo."""
        uid, digest, name, is_primary = self.files[index]
        return {
            "ID": "%d-%d" % (self.number + 1, 2 * self.number + index + 1), **self.facts, "Favorite": self.favorite,
            "Private": self.private, "Quality": self.quality, "InstanceID": "", "FileUID": uid, "FileRoot": "/", "FileName": name,
            "Hash": digest, "Width": 4000, "Height": 3000, "Portrait": False, "Merged": False, "CreatedAt": text(self.created),
            "UpdatedAt": text(self.updated), "EditedAt": "0001-01-01T00:00:00Z", "CheckedAt": "0001-01-01T00:00:00Z", "Files": None,
        }

    def file(self, index):
        uid, digest, name, is_primary = self.files[index]
        return {"UID": uid, "PhotoUID": self.facts["UID"], "Name": name, "Root": "/", "Hash": digest, "Primary": is_primary}

    def media_id(self, index):
        """Returns the text by which the server sorts files. New photos come first."""
        return "%d-%d-%s" % (10_000_000_000 - self.number, 0 if self.files[index][3] else 1, self.files[index][0])


class Library:
    def __init__(self, settings, control):
        self.settings = settings
        self.control = control
        self.read = 0
        self.fault = {}
        self.raw = {}
        self.front = None
        self.broken = set()
        self.photos = []
        self.lock = threading.Lock()
        self.passwords = settings.get("passwords", {})
        self.sessions = {}
        # The ids of the albums that visitors may see, and the tokens of each visit.
        self.visits = {}
        self.visit_tokens = {}
        self.tokens = ["prev1ewt", "d0wnl0ad"]
        self.valid = set()
        per_month, videos = settings.get("perMonth", 800), settings.get("videos", 0)
        start = datetime.datetime(2010, 1, 1, 10, tzinfo=datetime.timezone.utc)
        self.updated = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
        count = 0
        while count < settings.get("photos", 0):
            number = len(self.photos)
            kind = "video" if videos and number % (videos + 1) == videos else "image"
            month = number // per_month
            taken = start.replace(year=start.year + month // 12, month=1 + month % 12)
            taken += datetime.timedelta(minutes=number % per_month * 40_000 // per_month)
            self.add("IMG_%06d.%s" % (number, "jpg" if kind == "image" else "mp4"), taken, kind)
            count += kind == "image"
        for kind, numbers in settings.get("hidden", {}).items():
            for number in numbers:
                photo = self.photos[number]
                if kind == "private":
                    photo.private = True
                elif kind == "review":
                    photo.quality = 2
                else:
                    photo.facts.update({"Year": -1, "Month": -1})

    def add(self, name, taken, kind="image"):
        self.updated += datetime.timedelta(seconds=1)
        number = len(self.photos)
        every = self.settings.get("files", 0)
        self.photos.append(
            Photo(number, name, taken, kind, self.updated, kind == "image" and every and number % every == every - 1))
        self.photos[-1].favorite = number % 10 == 3

    def obey(self):
        """Obeys the new lines of the control file."""
        with self.lock:
            with open(self.control, "rb") as file:
                file.seek(self.read)
                rest = file.read()
            end = rest.rfind(b"\n") + 1
            self.read += end
            for line in rest[:end].splitlines():
                self.updated += datetime.timedelta(seconds=1)
                self.follow(json.loads(line))

    def follow(self, order):
        if "add" in order:
            self.add(order["name"], moment(order["add"]))
            self.photos[-1].facts["Title"] = order["name"]
        elif "delete" in order:
            self.photos[order["delete"]].deleted = True
        elif "change" in order:
            self.photos[order.pop("change")].change(order, self.updated)
        elif "main" in order:
            self.photos[order["main"]].choose_main()
        elif "tokens" in order:
            self.tokens, self.valid = order["tokens"], set()
        elif "restart" in order:
            self.valid = set()
        elif "broken" in order:
            self.broken = set(order["broken"])
        elif "review" in order:
            self.settings["review"] = order["review"]
        elif "front" in order:
            self.front = order["front"]
        elif "passwords" in order:
            self.passwords = order["passwords"]
        elif "album" in order:
            self.settings["albums"][order["album"]] = order["photos"]
        elif "shares" in order:
            self.settings["shares"] = order["shares"]
        elif "removeAlbum" in order:
            del self.settings["albums"][order["removeAlbum"]]
        elif "fault" in order:
            self.fault = order
        elif "raw" in order:
            self.raw = order["raw"]

    def albums(self, kind):
        """Returns the objects that describe the albums of a type."""
        albums = []
        for uid, numbers in self.settings.get("albums", {}).items():
            if self.settings.get("types", {}).get(uid, "album") != kind:
                continue
            photos = [photo for photo in self.photos if photo.number in numbers and not photo.deleted]
            covers = sorted((photo for photo in photos if not photo.private), key=lambda photo: photo.taken)
            name = self.settings.get("names", {}).get(uid, "Album " + uid)
            path = name if kind == "folder" else ""
            albums.append({
                "UID": uid, "ParentUID": "", "Thumb": covers[-1].files[0][1] if covers else "", "Slug": slug(name), "Type": kind,
                "Title": name.split("/")[-1], "Location": "", "Category": "", "Caption": "", "Description": "", "Notes": "",
                "Filter": "path:%s public:true" % path if path else "", "Order": "oldest", "Template": "", "Path": path, "State": "",
                "Country": "zz", "Year": 0, "Month": 0, "Day": 0, "Favorite": False, "Private": False,
                # Only albums of users have entries in the table that the server counts.
                "PhotoCount": len(photos) if kind == "album" else 0, "LinkCount": 0, "CreatedAt": text(self.updated),
                "UpdatedAt": text(self.updated), "DeletedAt": "0001-01-01T00:00:00Z",
            })
        return sorted(albums, key=lambda album: album["Path"] or album["Title"])

    def people(self, hidden):
        """Returns the objects that describe people."""
        people = []
        for uid, numbers in self.settings.get("people", {}).items():
            photos = [photo for photo in self.photos if photo.number in numbers and not photo.deleted and not photo.private]
            name = self.settings.get("names", {}).get(uid, "Person " + uid)
            is_hidden = uid in self.settings.get("concealed", [])
            if is_hidden and not hidden:
                continue
            people.append({
                "UID": uid, "MarkerUID": "m" + uid[1:], "MarkerSrc": "image", "Type": "person", "Slug": slug(name), "Name": name,
                "Alias": "", "Favorite": False, "Hidden": is_hidden, "Private": False, "Excluded": False, "FileCount": len(photos),
                "PhotoCount": len(photos), "Thumb": photos[0].files[0][1] + "-046045043065" if photos else "",
            })
        return people

    def labels(self):
        """Returns the objects that describe the labels of two or more photos."""
        labels = []
        for word, numbers in self.settings.get("labels", {}).items():
            photos = [photo for photo in self.photos if photo.number in numbers and not photo.deleted]
            custom = self.settings.get("customized", {}).get(word, word)
            if len(photos) > 1:
                labels.append({
                    "ID": len(labels) + 1, "UID": "lq%014x" % len(labels), "Slug": word, "CustomSlug": custom,
                    "Name": custom.replace("-", " ").title(), "Favorite": False, "Priority": 0, "Description": "", "Notes": "",
                    "PhotoCount": len(photos), "Thumb": photos[0].files[0][1], "CreatedAt": text(self.updated),
                    "UpdatedAt": text(self.updated), "DeletedAt": "0001-01-01T00:00:00Z",
                })
        return sorted(labels, key=lambda label: label["CustomSlug"])

    def search(self, query):
        """Returns the files that a search finds, as pairs of photo and index."""
        found = [photo for photo in self.photos if not photo.deleted]
        if "q" in query:
            name = query["q"].split(":")[1]
            people = self.settings.get("people", {})
            # An id, or the slug of a name.
            uids = [uid for uid in people if uid == name or slug(self.settings.get("names", {}).get(uid, "Person " + uid)) == name]
            numbers = {number for uid in uids for number in people[uid]}
            if query["q"].startswith("label:"):
                customized = self.settings.get("customized", {})
                numbers = {
                    number for word, numbers in self.settings.get("labels", {}).items() if name in (word, customized.get(word))
                    for number in numbers}
            found = [photo for photo in found if photo.number in numbers]
        if "s" in query:
            if not query["s"].startswith("a") or query["s"] not in self.settings.get("albums", {}):
                raise Refusal(400)
            numbers = set(self.settings["albums"][query["s"]])
            found = [photo for photo in found if photo.number in numbers]
        if query.get("public") == "true":
            found = [photo for photo in found if not photo.private]
        if query.get("favorite") in ("true", "yes"):
            found = [photo for photo in found if photo.favorite]
        if query.get("photo") == "true":
            found = [photo for photo in found if photo.facts["Type"] in PHOTO_TYPES]
        if int(query.get("quality", 0)):
            found = [photo for photo in found if photo.quality >= int(query["quality"])]
        for name in ("year", "month"):
            if name in query:
                found = [photo for photo in found if photo.facts[name.capitalize()] == int(query[name])]
        if "updated" in query:
            since = moment(query["updated"]).replace(microsecond=0)
            found = [photo for photo in found if photo.updated >= since]
        files = [(photo, index) for photo in found for index in range(len(photo.files))]
        if query.get("primary") == "true":
            files = [(photo, index) for photo, index in files if photo.files[index][3]]
        order = query.get("order") or "added"
        if order == "added":
            return sorted(files, key=lambda file: file[0].media_id(file[1]))
        backwards = -1 if order == "newest" else 1
        return sorted(files, key=lambda file: (backwards * file[0].taken.timestamp(), file[0].media_id(file[1])))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.handle_request()

    do_POST = do_PROPFIND = do_GET

    def handle_request(self):
        library = self.server.library
        library.obey()
        self.body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.details = ""
        self.tokens = {}
        url = urllib.parse.urlsplit(self.path)
        self.shown = url.path
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        base = library.settings.get("base", "")
        if library.front and self.headers.get("authorization") != library.front:
            self.tokens = {"WWW-Authenticate": 'Basic realm="photos"'}
            return self.send(401, b"")
        try:
            if url.path in library.raw:
                return self.send(200, library.raw[url.path].encode(), "application/json; charset=utf-8")
            if not url.path.startswith(base + "/"):
                return self.send(404, b"Not Found", "text/plain")
            self.route(library, url.path[len(base):], query, base)
        except Refusal as refusal:
            self.send_json({"code": refusal.status, "error": Refusal.MESSAGES[refusal.status]}, refusal.status)

    def route(self, library, path, query, base):
        if self.command == "PROPFIND":
            return self.send(404, PAGE)
        if path == "/":
            return self.send(307, b"", location=base + "/library/login")
        if path.startswith("/library/"):
            return self.send(200, PAGE)
        if path.startswith("/s/") and path.endswith("/"):
            return self.send(301, b"", location=base + path.rstrip("/"))
        match = re.fullmatch("/s/([^/]+)(?:/([^/]+))?", path)
        if match:
            if match.group(1) in library.settings.get("shares", {}):
                return self.send(200, PAGE)
            return self.send(307, b"", location=base + "/")
        if path == "/api/v1/status":
            return self.send_json({"status": "operational"})
        if path == "/api/v1/config":
            return self.config(library, base)
        if path == "/api/v1/session" and self.command == "POST":
            return self.session(library)
        if path == "/api/v1/moments/time":
            self.allow("calendar")
            return self.months(library)
        if path == "/api/v1/albums":
            self.allow("albums")
            return self.list(query, ALBUMS, lambda: library.albums(query.get("type", "")))
        if path == "/api/v1/subjects":
            self.allow("people")
            return self.list(query, PEOPLE, lambda: [
                person for person in library.people(query.get("hidden") == "yes") if person["FileCount"] >= int(query.get("files", 0))])
        if path == "/api/v1/labels":
            self.allow("labels")
            return self.list(query, LABELS, library.labels)
        if path == "/api/v1/photos":
            self.allow("photos")
            return self.search(library, query)
        match = re.fullmatch("/api/v1/t/([^/]+)/([^/]+)/([^/]+)", path)
        if match:
            return self.thumbnail(library, base, *match.groups())
        match = re.fullmatch("/api/v1/dl/([^/]+)", path)
        if match:
            return self.download(library, match.group(1), query.get("t", ""))
        # The server has a page for every other address.
        self.send(404, PAGE)

    def password(self):
        """Returns the password or session that the request carries."""
        for name in ("x-auth-token", "x-session-id"):
            if self.headers.get(name):
                return self.headers[name]
        words = (self.headers.get("authorization") or "").split(" ")
        return words[1] if len(words) == 2 and words[0] == "Bearer" else ""

    def scope(self):
        """Returns the scope of the request's password; None for an unknown password."""
        library, password = self.server.library, self.password()
        if library.settings.get("public"):
            return "*"
        if not APP_PASSWORD.fullmatch(password) and not ACCESS_TOKEN.fullmatch(password):
            return None
        scope = library.passwords.get(password) or library.sessions.get(password)
        if scope:
            library.valid = set(library.tokens)
        return scope

    def allow(self, resource):
        """Refuses a request without a password, or with one for something else."""
        if resource == "photos" and self.password() in self.server.library.visits:
            return
        scope = self.scope()
        if scope is None:
            raise Refusal(401)
        if scope != "*" and resource not in scope.split():
            raise Refusal(403)

    def config(self, library, base):
        scope = self.scope()
        settings = {
            "mode": "public" if scope is None else "user", "name": "PhotoPrism", "about": "PhotoPrism®", "edition": "ce",
            "version": "241213-000000000", "copyright": "(c) 2018-2024 PhotoPrism UG. All rights reserved.", "flags": "settings",
            "baseUri": base, "apiUri": base + "/api/v1", "public": bool(library.settings.get("public")), "authMode": "password",
            "thumbs": [{"size": size, "usage": "x" * 400} for size in sorted(SIZES)], "previewToken": "public",
            "settings": {"ui": {"scrollbar": True}, "features": {"private": True, "review": library.settings.get("review", True)}},
            "downloadToken": "public", "count": {"all": len(library.photos), "photos": len(library.photos), "videos": 0},
        }
        if scope is not None and not library.settings.get("public"):
            settings["previewToken"], settings["downloadToken"] = library.tokens
            # The lists of cameras, countries and people of a large library.
            settings["cameras"] = [{"ID": number, "Name": "x" * 60} for number in range(1_000)]
        self.send_json(settings)

    def session(self, library):
        try:
            login = json.loads(self.body)
        except ValueError:
            raise Refusal(400) from None
        if "token" in login:
            return self.visit(library, login["token"])
        if library.settings.get("users", {}).get(login.get("username"), object()) != login.get("password"):
            return self.send_json({"error": "Invalid credentials", "code": 32, "message": "Invalid credentials"}, 401)
        token = hashlib.sha384(b"%d" % len(library.sessions)).hexdigest()[:48]
        library.sessions[token] = "*"
        self.send_json({
            "status": "success", "id": token, "session_id": hashlib.sha256(token.encode()).hexdigest(), "access_token": token,
            "token_type": "Bearer", "expires_in": 1209600, "provider": "local", "scope": "*", "user": {}, "data": {}, "config": {},
        })

    def visit(self, library, secret):
        """Opens a shared link."""
        albums = library.settings.get("shares", {}).get(secret)
        if library.settings.get("public"):
            # Everyone is let in, and the secret is not looked at.
            return self.send_json({
                "status": "success", "id": "0" * 48, "access_token": "0" * 48, "data": {"tokens": None, "shares": None},
                "config": {"previewToken": "public", "downloadToken": "public"}})
        if albums is None:
            return self.send_json({"error": "Invalid credentials"}, 404)
        number = len(library.visits)
        token = hashlib.sha384(b"visit %d" % number).hexdigest()[:48]
        library.visits[token] = albums
        preview, download = library.visit_tokens[token] = ["prev1s1t%d" % number, "d0wnv1s1%d" % number]
        self.send_json({
            "status": "success", "id": token, "session_id": hashlib.sha256(token.encode()).hexdigest(), "access_token": token,
            "token_type": "Bearer", "expires_in": 86400, "provider": "link", "scope": "*",
            "user": {"UID": "u000000000000002", "Name": "visitor", "Role": "visitor"}, "data": {"tokens": [secret], "shares": albums},
            "config": {"mode": "share", "name": "PhotoPrism", "previewToken": preview, "downloadToken": download},
        })

    def months(self, library):
        counts = {}
        for photo in library.photos:
            month = (photo.facts["Year"], photo.facts["Month"])
            if not photo.deleted and not photo.private and photo.quality >= 3 and min(month) > 0:
                counts[month] = counts.get(month, 0) + 1
        self.send_json([
            {"Label": "", "Year": year, "Month": month, "State": "", "Country": "", "PhotoCount": counts[year, month]}
            for year, month in sorted(counts, reverse=True)])

    def search(self, library, query):
        # The real server ignores unknown fields.
        if any(name not in SEARCH or not re.fullmatch(SEARCH[name], value) for name, value in query.items()):
            raise Refusal(400)
        count, offset = int(query.get("count", 0)), int(query.get("offset", 0))
        if count == 0:
            raise Refusal(400)
        self.details = "%s%d" % ("since " if "updated" in query else "favorite " if "favorite" in query else "", offset)
        if "year" in query:
            self.details = "%04d-%02d" % (int(query["year"]), int(query["month"]))
        elif count == 1:
            self.details = "one"
        visited = library.visits.get(self.password())
        if visited is not None and query.get("s") not in visited:
            raise Refusal(400)
        is_faulty = library.fault.get("page") == offset and count > 1
        if is_faulty and library.fault["fault"] == "gone":
            os._exit(1)
        first = offset - count if is_faulty and library.fault["fault"] == "repeat" else offset
        files = library.search(query)[first:first + min(count, MOST)]
        rows = []
        for photo, index in files:
            row = photo.row(index)
            if query.get("merged") == "true":
                if rows and rows[-1]["UID"] == row["UID"]:
                    rows[-1]["Files"].append(photo.file(index))
                    rows[-1]["Merged"] = True
                    continue
                row["Files"] = [photo.file(index)]
            rows.append(row)
        # The count is that of the files.
        self.tokens = {"X-Count": len(files), "X-Limit": count, "X-Offset": offset}
        if not library.settings.get("public"):
            tokens = library.visit_tokens.get(self.password(), library.tokens)
            self.tokens.update(zip(("X-Preview-Token", "X-Download-Token"), tokens))
        cut = is_faulty and library.fault["fault"] == "cut"
        self.send(200, json.dumps(rows).encode(), "application/json; charset=utf-8", cut=cut)

    def list(self, query, fields, find):
        """Answers a request for a page of albums or people."""
        # The real server ignores unknown fields.
        if any(name not in fields or not re.fullmatch(fields[name], value) for name, value in query.items()):
            raise Refusal(400)
        count, offset = int(query.get("count", 0)), int(query.get("offset", 0))
        if count == 0:
            raise Refusal(400)
        self.details = "%s %d" % (query.get("type", ""), offset)
        library = self.server.library
        found = find()[offset:offset + min(count, MOST)]
        self.tokens = {"X-Count": len(found), "X-Limit": count, "X-Offset": offset}
        if not library.settings.get("public"):
            self.tokens.update(zip(("X-Preview-Token", "X-Download-Token"), library.tokens))
        self.send_json(found)

    def is_valid(self, token, kinds):
        library = self.server.library
        if token in [tokens[kind] for tokens in library.visit_tokens.values() for kind in kinds]:
            return True
        return bool(library.settings.get("public")) or token in library.valid and token in [library.tokens[kind] for kind in kinds]

    def find(self, library, digest):
        return next((photo for photo in library.photos if digest in [file[1] for file in photo.files]), None)

    def thumbnail(self, library, base, digest, token, size):
        self.shown = base + "/api/v1/t/" + digest
        self.details = size
        if not self.is_valid(token, [0, 1]):
            return self.send(403, SYMBOL, "image/svg+xml")
        photo = self.find(library, digest)
        # Errors are symbols, too.
        if photo is None or photo.number in library.broken or size not in SIZES:
            return self.send(200, SYMBOL, "image/svg+xml")
        self.send(200, jpeg("thumbnail %s %d" % (size, photo.number)), "image/jpeg")

    def download(self, library, digest, token):
        if not self.is_valid(token, [1]):
            return self.send(403, SYMBOL, "image/svg+xml")
        photo = self.find(library, digest)
        if photo is None:
            return self.send_json({"error": "record not found"}, 404)
        self.send(200, jpeg("original %d" % photo.number), "image/jpeg")

    def send_json(self, value, status=200):
        self.send(status, json.dumps(value, ensure_ascii=False).encode(), "application/json; charset=utf-8")

    def send(self, status, body, kind="text/html; charset=utf-8", location=None, cut=False):
        line = " ".join(part for part in (self.command, self.shown, self.details, str(status)) if part)
        with self.server.library.lock, open(self.server.log, "a") as log:
            log.write(line + "\n")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in self.tokens.items():
            self.send_header(name, str(value))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body[:len(body) // 2] if cut else body)
        self.wfile.flush()
        if cut:
            self.close_connection = True


if __name__ == "__main__":
    serve(Handler, Library)
