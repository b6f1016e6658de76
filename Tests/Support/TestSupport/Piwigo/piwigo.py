"""A stand-in for a Piwigo server, with made-up photos.

    piwigo.py PORT LOG SETTINGS CONTROL

SETTINGS is a file with a JSON object; every member may be missing:

    photos      the number of photos at the start; their ids begin with 1, and all are in album 1
    files       an object from the id of a photo to the name of its file
    taken       the ids of the photos with a date on which they were taken
    albums      an object from the id of a further album to {"photos": [IDS], "parent": ID, "private": BOOL, "name": NAME}
    tags        an object from the id of a tag to {"photos": [IDS], "name": NAME}
    favorites   the ids of the photos that the user with a key marked as favorites
    private     whether album 1 is private
    keys        the API keys, with which a user may see everything
    users       an object from the name of a user, who may see everything, to the password
    isClosed    whether guests may see nothing
    originals   whether users may see originals
    isProtected whether only users who may see a photo may fetch its original
    perPage     the most photos on a page
    root        the path of the server
    origin      the origin in addresses; by default the one that the client asked for

LOG gets a line for each request before the answer is sent: method, path, the server's method, page and status. Each line that a
test appends to CONTROL is a JSON object, which the next request obeys:

    {"add": ALBUM, "name": "a.jpg"}             adds a photo to an album
    {"delete": ID}                              deletes a photo
    {"change": ID, …}                           replaces members of a photo
    {"fault": NAME, "page": NUMBER}             repeats the page before, or stops the server, if the page with this number is asked
                                                for; pages begin with 0
    {"endSessions": true}                       ends the sessions of users who have signed in
    {"endSessions": METHOD}                     ends them after the next answer to this method
    {"raw": {METHOD: TEXT}, "status": NUMBER}   the texts to send for methods of the programming interface, with this status

It is written from Piwigo's published source, and its answers had the same members, of the same types, as those of Piwigo
17.0.0beta1, except those about tags, which were not compared. It differs from Piwigo in three ways: it knows only the methods
that Vitrine uses, stores no uploads, and its pictures are grey squares.
"""
import datetime
import http.server
import json
import os
import re
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "StandIn"))
from standin import jpeg, serve  # noqa: E402

SIZES = {
    "square": ("sq", 120), "thumb": ("th", 144), "2small": ("2s", 240), "xsmall": ("xs", 432), "small": ("sm", 576),
    "medium": ("me", 792), "large": ("la", 1008), "xlarge": ("xl", 1224), "xxlarge": ("xx", 1656), "3xlarge": ("3x", 2232),
    "4xlarge": ("4x", 3096),
}
VIDEOS = ("mp4", "webm")
PAGE = b"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta name="generator" content="Piwigo (aka PWG), see piwigo.org"><title>Gallery</title></head>
<body><a href="index.php?/categories">Albums</a> <a href="index.php?/category/1">Album</a>
<a href="picture.php?/1/category/1"><img src="i.php?/upload/2024/05/06/1-th.jpg"></a></body></html>"""
FIRST = datetime.datetime(2024, 5, 6, 7, 8, 9)
ORDER = "date_available DESC, file ASC, id ASC"


class Refusal(Exception):
    def __init__(self, code, message):
        self.code, self.message = code, message


class Photo:
    def __init__(self, number, file, posted, taken):
        self.number = number
        stem = file.rsplit(".", 1)[0]
        self.facts = {
            "is_favorite": False, "id": number, "width": 4000, "height": 3000, "hit": 0, "file": file, "name": "Photo " + stem,
            "comment": None, "date_creation": taken, "date_available": posted,
        }
        self.made = set()


class Gallery:
    def __init__(self, settings, control):
        self.settings = settings
        self.control = control
        self.read = 0
        self.lock = threading.Lock()
        self.fault, self.raw, self.status = {}, {}, 200
        # The cookies of users who have signed in.
        self.sessions = set()
        self.count = 0
        self.last_method = ""
        self.photos = {}
        self.posted = FIRST
        self.albums = {1: {"photos": [], "private": settings.get("private", False)}}
        files, taken = settings.get("files", {}), settings.get("taken", [])
        for number in range(1, settings.get("photos", 0) + 1):
            self.add(1, files.get(str(number), "IMG_%06d.jpg" % number), number in taken)
        for number, album in settings.get("albums", {}).items():
            self.albums[int(number)] = album

    def add(self, album, file, is_taken=False):
        self.posted += datetime.timedelta(seconds=1)
        number = max(self.photos, default=0) + 1
        posted = self.posted.strftime("%Y-%m-%d %H:%M:%S")
        self.photos[number] = Photo(number, file, posted, "2010-01-01 10:00:00" if is_taken else None)
        self.albums[album]["photos"].append(number)

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
                if "add" in order:
                    self.add(order["add"], order["name"])
                elif "delete" in order:
                    self.photos.pop(order["delete"])
                    for album in self.albums.values():
                        album["photos"] = [one for one in album["photos"] if one != order["delete"]]
                elif "change" in order:
                    self.photos[order.pop("change")].facts.update(order)
                elif "fault" in order:
                    self.fault = order
                elif order.get("endSessions") is True:
                    self.sessions = set()
                elif "endSessions" in order:
                    self.last_method = order["endSessions"]
                elif "raw" in order:
                    self.raw, self.status = order["raw"], order.get("status", 200)

    def parents(self, album):
        """Returns the ids of an album and the albums around it, from outside to inside."""
        parent = self.albums[album].get("parent")
        return (self.parents(parent) if parent else []) + [album]

    def name(self, album):
        return self.albums[album].get("name", "Album %d" % album)

    def visible(self, has_key, root=None):
        """Returns the ids of the albums that a user may see, or of those in an album."""
        return [
            number for number in sorted(self.albums)
            if (has_key or not any(self.albums[one].get("private") for one in self.parents(number)))
            and (root is None or root in self.parents(number))
        ]


def flag(parameters, name):
    """Returns a parameter that must be a truth value. Refuses others as Piwigo does."""
    text = parameters.get(name, "").lower()
    if text not in ("", "true", "1", "yes", "on", "false", "0", "no", "off"):
        raise Refusal(1003, name + " must be a boolean")
    return text in ("true", "1", "yes", "on")


def number(parameters, name, default=None):
    """Returns a parameter that must be a number. Refuses others as Piwigo does."""
    text = parameters.get(name, "")
    if text == "":
        return default
    if not re.fullmatch("[0-9]+", text):
        must = "must only contain positive integers" if name == "cat_id" else "must be an positive integer"
        raise Refusal(1003, name + " " + must)
    return int(text)


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

    @property
    def root(self):
        """The address of the server, as it writes it."""
        settings = self.server.library.settings
        return settings.get("origin", "http://" + self.headers.get("host", "")) + settings.get("root", "/")

    def handle_request(self):
        gallery = self.server.library
        gallery.obey()
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.what = ""
        self.cookies = []
        cookie = re.search("(?:^|; *)pwg_id=([^;]*)", self.headers.get("Cookie") or "")
        self.session = cookie[1] if cookie else None
        if not cookie:
            self.begin_session(gallery)
        url = urllib.parse.urlsplit(self.path)
        root = gallery.settings.get("root", "/")
        if self.command == "PROPFIND" or not url.path.startswith(root):
            return self.send(404, b"Not Found")
        path = url.path[len(root):]
        if path == "ws.php":
            return self.answer(url.query, body)
        if path == "action.php":
            return self.original(url.query)
        if path in ("", "index.php", "picture.php", "identification.php"):
            return self.page(path, url.query)
        picture = re.fullmatch("(?:_data/i/)?(upload/2024/05/06/([0-9]+)(-[0-9a-z]{2})?[.][a-z0-9]+)", path)
        if path == "i.php":
            picture = re.fullmatch("/(upload/2024/05/06/([0-9]+)(-[0-9a-z]{2})[.][a-z0-9]+)", url.query)
        if picture and int(picture[2]) in gallery.photos:
            gallery.photos[int(picture[2])].made.add((picture[3] or "")[1:])
            self.what = url.query
            return self.send(200, jpeg(path + url.query), "image/jpeg")
        self.send(404, b"Not Found")

    def begin_session(self, gallery):
        gallery.count += 1
        self.session = "%026x" % gallery.count
        self.cookies.append("pwg_id=%s; path=/; HttpOnly" % self.session)

    def original(self, query):
        """Sends an original to a user who may see the photo."""
        gallery = self.server.library
        part = re.fullmatch("id=([0-9]+)&part=e(?:&download)?", query)
        if not part:
            return self.send(400, b"Invalid request - id/part")
        if int(part[1]) not in gallery.photos:
            return self.send(404, b"Requested id not found")
        self.what = query
        # The server reads API keys only at the address of its programming interface.
        albums = gallery.visible(self.session in gallery.sessions)
        if not any(int(part[1]) in gallery.albums[album]["photos"] for album in albums):
            return self.send(401, b"Access denied")
        self.send(200, jpeg("original " + part[1]), "image/jpeg")

    def page(self, path, query):
        gallery = self.server.library
        album = re.search("/category/([0-9]+)", query)
        if album and int(album[1]) not in gallery.albums:
            return self.send(404, PAGE)
        isHidden = album and int(album[1]) not in gallery.visible(False)
        if path != "identification.php" and (gallery.settings.get("isClosed") or isHidden):
            return self.send(302, b"", location="identification.php?redirect=%252F")
        self.send(200, PAGE)

    # The programming interface

    def answer(self, query, body):
        """Answers a request as Piwigo's `PwgRestRequestHandler` does."""
        gallery = self.server.library
        query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        form = dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))
        key = self.headers.get("X-PIWIGO-API")
        has_api_key = False
        has_key = self.session in gallery.sessions
        status = 200
        try:
            if key and ("method" in form or "method" in query):
                if key not in gallery.settings.get("keys", []):
                    raise Refusal(401, "Invalid api_key")
                has_key = has_api_key = True
                # Piwigo adds a parameter to the form, so it takes no parameter from the address.
                form["pwg_token"] = "0123456789abcdef0123456789abcdef"
            parameters = form or query
            method = parameters.get("method") or query.get("method", "")
            self.what = method + (" " + parameters["page"] if "page" in parameters else "")
            if method == "pwg.session.login":
                if has_api_key:
                    raise Refusal(401, "Cannot use this method with an api key")
                return self.sign_in(gallery, query, form)
            if method in gallery.raw:
                return self.send(gallery.status, gallery.raw[method].encode(), "text/plain; charset=utf-8")
            result = self.result(method, parameters, has_key, has_api_key)
            answer = {"stat": "ok", "result": result}
            if method == gallery.last_method:
                gallery.sessions, gallery.last_method = set(), ""
        except Refusal as refusal:
            if 400 <= refusal.code < 600:
                status = refusal.code
            answer = {"stat": "fail", "err": refusal.code, "message": refusal.message}
        if query.get("format") != "json":
            return self.send(200, b'<?xml version="1.0" encoding="utf-8" ?>\n<rsp stat="ok">\n</rsp>', "text/xml; charset=utf-8")
        # As PHP writes JSON.
        text = json.dumps(answer, separators=(",", ":")).replace("/", "\\/")
        self.send(status, text.encode(), "text/plain; charset=utf-8")

    def sign_in(self, gallery, query, form):
        """Answers a sign-in. A user who has signed in gets another session."""
        if form.get("method") != "pwg.session.login":
            answer, status = {"stat": "fail", "err": 405, "message": "This method requires HTTP POST"}, 405
        elif "username" not in form:
            answer, status = {"stat": "fail", "err": 1002, "message": "Missing parameters: username"}, 200
        elif gallery.settings.get("users", {}).get(form["username"], object()) != form.get("password"):
            answer, status = {"stat": "fail", "err": 999, "message": "Invalid username/password"}, 200
        else:
            answer, status = {"stat": "ok", "result": True}, 200
            self.cookies = ["pwg_remember=deleted; expires=Thu, 01 Jan 1970 00:00:01 GMT; Max-Age=0; path=/"]
            self.begin_session(gallery)
            gallery.sessions.add(self.session)
        self.send(status, json.dumps(answer).encode(), "text/plain; charset=utf-8")

    def result(self, method, parameters, has_key, has_api_key):
        gallery = self.server.library
        if method == "":
            raise Refusal(501, 'Missing "method" name')
        if not has_key and gallery.settings.get("isClosed") and not method.startswith("pwg.session."):
            raise Refusal(401, "Access denied")
        is_deep = flag(parameters, "recursive")
        with gallery.lock:
            if method == "pwg.session.getStatus":
                return self.state(has_key, has_api_key)
            if method == "pwg.categories.getList":
                return {"categories": self.albums(gallery, parameters, has_key, is_deep)}
            if method == "pwg.categories.getImages":
                return self.images(gallery, parameters, has_key, is_deep)
            if method == "pwg.tags.getList":
                return {"tags": self.tags(gallery, has_key)}
            if method == "pwg.tags.getImages":
                return self.tagged(gallery, parameters, has_key)
            if method == "pwg.users.favorites.getList":
                return self.favorites(gallery, parameters, has_key)
        raise Refusal(501, "Method name is not valid")

    def favorites(self, gallery, parameters, has_key):
        if not has_key:
            return False
        page = number(parameters, "page", 0)
        per_page = min(number(parameters, "per_page", 100), gallery.settings.get("perPage", 500))
        found = [gallery.photos[one] for one in sorted(gallery.settings.get("favorites", [])) if one in gallery.photos]
        images = []
        for photo in found[page * per_page:(page + 1) * per_page]:
            facts = self.image(gallery, photo, has_key)
            del facts["categories"], facts["is_favorite"]
            images.append(facts)
        # The count is that of all favorites.
        return {"paging": {"page": page, "per_page": per_page, "count": len(found)}, "images": images}

    def tags(self, gallery, has_key):
        visible = self.shown(gallery, has_key)
        found = []
        for number, tag in gallery.settings.get("tags", {}).items():
            count = len(visible & set(tag["photos"]))
            if count:
                found.append({
                    "id": int(number), "name": tag["name"], "url_name": tag["name"].lower(), "lastmodified": "2024-05-06 07:08:09",
                    "counter": count, "url": self.root + "index.php?/tags/%s-%s" % (number, tag["name"].lower()),
                })
        return sorted(found, key=lambda tag: tag["name"].lower())

    @staticmethod
    def shown(gallery, has_key):
        """Returns the ids of the photos that a user may see."""
        return {photo for album in gallery.visible(has_key, None) for photo in gallery.albums[album]["photos"]}

    def tagged(self, gallery, parameters, has_key):
        page = number(parameters, "page", 0)
        per_page = min(number(parameters, "per_page", 100), gallery.settings.get("perPage", 500))
        # The server finds no photos for a tag that it does not know.
        tag = gallery.settings.get("tags", {}).get(str(number(parameters, "tag_id")), {"photos": []})
        ids = sorted(self.shown(gallery, has_key) & set(tag["photos"]))[page * per_page:(page + 1) * per_page]
        images = []
        for rank, photo in enumerate(ids):
            facts = self.image(gallery, gallery.photos[photo], has_key)
            del facts["categories"]
            images.append({**facts, "rank": rank, "tags": []})
        # The total is that of the page.
        return {
            "paging": {"page": page, "per_page": per_page, "count": len(images), "total_count": len(images)}, "images": images,
        }

    @staticmethod
    def state(has_key, has_api_key):
        return {
            "username": "admin" if has_key else "guest", "status": "webmaster" if has_key else "guest", "theme": "default",
            "language": "en_UK", "pwg_token": "0123456789abcdef0123456789abcdef", "charset": "utf-8",
            "current_datetime": "2024-05-06 07:08:09", "version": "17.0.0beta1", "save_visits": True,
            "connected_with": "api_key" if has_api_key else "ws_session_login" if has_key else None, "available_sizes": list(SIZES)[:9],
        }

    def albums(self, gallery, parameters, has_key, is_deep):
        root = number(parameters, "cat_id")
        found = []
        for album in gallery.visible(has_key, root or None):
            parent = gallery.albums[album].get("parent")
            if not is_deep and (parent != root and album != root if root else parent):
                continue
            photos = gallery.albums[album]["photos"]
            below = [one for one in gallery.visible(has_key, album) if one != album]
            every = photos + [photo for one in below for photo in gallery.albums[one]["photos"]]
            if not every and not has_key:
                continue
            dates = [gallery.photos[photo].facts["date_available"] for photo in photos]
            everyDate = [gallery.photos[photo].facts["date_available"] for photo in every]
            parents = gallery.parents(album)
            facts = {
                "id": album, "name": gallery.name(album), "comment": "", "permalink": None,
                "status": "private" if gallery.albums[album].get("private") else "public",
                "uppercats": ",".join(map(str, parents)), "global_rank": ".".join(map(str, parents)),
                "id_uppercat": str(parent) if parent else None, "nb_images": len(photos), "total_nb_images": len(every),
                "representative_picture_id": str(every[0]) if every else None, "date_last": max(dates, default=None),
                "max_date_last": max(everyDate, default=None), "nb_categories": len(below), "image_order": ORDER,
                "url": self.root + "index.php?/category/%d" % album, "name_raw": gallery.name(album), "comment_raw": None,
            }
            if flag(parameters, "fullname"):
                del facts["name_raw"]
                facts["name"] = " / ".join(map(gallery.name, parents))
            if every:
                facts["tn_url"] = self.picture(gallery.photos[every[0]], "th")
            found.append(facts)
        return found

    def images(self, gallery, parameters, has_key, is_deep):
        page = number(parameters, "page", 0)
        per_page = min(number(parameters, "per_page", 100), gallery.settings.get("perPage", 500))
        root = number(parameters, "cat_id")
        if root is not None and root not in gallery.albums:
            raise Refusal(404, "cat_id {%d} not found" % root)
        albums = gallery.visible(has_key, root)
        if root is not None and not is_deep:
            albums = [one for one in albums if one == root]
        ids = {photo for album in albums for photo in gallery.albums[album]["photos"]}
        found = [gallery.photos[one] for one in sorted(ids)]
        if parameters.get("order") != "id":
            found.sort(key=lambda photo: photo.facts["date_available"], reverse=True)
        first = page
        if gallery.fault.get("page") == page:
            if gallery.fault["fault"] == "gone":
                os._exit(1)
            if gallery.fault["fault"] == "repeat":
                first = page - 1
        shown = found[first * per_page:(first + 1) * per_page]
        return {
            "paging": {"page": page, "per_page": per_page, "count": len(shown), "total_count": len(found)},
            "images": [self.image(gallery, photo, has_key) for photo in shown],
        }

    def image(self, gallery, photo, has_key):
        facts = dict(photo.facts)
        number, file = facts["id"], facts["file"]
        ending = file.rsplit(".", 1)[-1].lower()
        if ending in VIDEOS:
            del facts["width"], facts["height"]
        facts["page_url"] = self.root + "picture.php?/%d" % number
        has_original = gallery.settings.get("originals", True)
        if has_original:
            facts["element_url"] = self.root + "upload/2024/05/06/%d.%s" % (number, ending)
        if gallery.settings.get("isProtected"):
            facts["element_url"] = self.root + "action.php?id=%d&part=e" % number
        facts["download_url"] = self.root + "action.php?id=%d&part=e&download" % number if has_original else None
        facts["derivatives"] = {
            name: {"url": self.picture(photo, letters), "width": size, "height": size if name == "square" else size * 3 // 4}
            for name, (letters, size) in SIZES.items()
        }
        facts["categories"] = [
            {"id": album, "url": self.root + "index.php?/category/%d" % album,
             "page_url": self.root + "picture.php?/%d/category/%d" % (number, album)}
            for album in gallery.visible(has_key) if number in gallery.albums[album]["photos"]
        ]
        return facts

    def picture(self, photo, letters):
        """Returns the address of a picture, which is another as soon as the picture was made."""
        number, ending = photo.number, photo.facts["file"].rsplit(".", 1)[-1].lower()
        if ending in VIDEOS:
            return self.root + "i.php?/themes/default/icon/mimetypes/%s-%s.png" % (ending, letters)
        name = "upload/2024/05/06/%d-%s.%s" % (number, letters, ending if ending in ("jpg", "png") else "jpg")
        return self.root + ("_data/i/" if letters in photo.made else "i.php?/") + name

    def send(self, status, body, kind="text/html; charset=utf-8", location=None):
        line = " ".join(part for part in (self.command, self.path.split("?")[0], self.what, str(status)) if part)
        with open(self.server.log, "a") as log:
            log.write(line + "\n")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for cookie in self.cookies:
            self.send_header("Set-Cookie", cookie)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


if __name__ == "__main__":
    serve(Handler, Gallery)
