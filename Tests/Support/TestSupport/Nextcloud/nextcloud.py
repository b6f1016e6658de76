"""A stand-in for a Nextcloud server, which shows a folder of the disk as the files of one user.

    nextcloud.py PORT LOG SETTINGS

SETTINGS is a file with a JSON object:

    folder        the folder with the user's files
    user          the user's id
    login         another name with which the user signs in, or null
    passwords     the passwords that are valid for the user
    shares        an object from the token of a public share to {"folder": PATH, "password": TEXT or null}
    albums        an object from the name of an album of the user's to the paths of its photos
    sharedAlbums  the same of albums that others share with the user; null for a server that knows no such albums
    publicAlbums  an object from the token of a public album to the paths of its photos
    isOwnCloud    whether the server is like one of ownCloud: the user's files refuse every request with X-Requested-With, and
                  shares have another address

LOG gets a line for each request before the answer is sent: method, path and status. The folder may change at any time.

It is written from Nextcloud's published protocol and sources. It differs from Nextcloud in this: nothing can be written,
there are no sessions and no delays after wrong passwords, and a POST to the address of a login grants it.
"""
import base64
import email.utils
import hashlib
import http.server
import json
import os
import re
import secrets
import stat
import sys
import threading
import urllib.parse
import xml.etree.ElementTree
import xml.sax.saxutils

DAV = "{DAV:}"
OWNCLOUD = "{http://owncloud.org/ns}"
NEXTCLOUD = "{http://nextcloud.org/ns}"
PREFIXES = {"DAV:": "d", "http://sabredav.org/ns": "s", "http://owncloud.org/ns": "oc", "http://nextcloud.org/ns": "nc"}
TYPES = {b".jpg": "image/jpeg", b".jpeg": "image/jpeg", b".png": "image/png", b".gif": "image/gif", b".webp": "image/webp"}
VERSION = {"major": 31, "minor": 0, "micro": 9, "string": "31.0.9", "edition": "", "extendedSupport": False}
STATUS = {
    "installed": True, "maintenance": False, "needsDbUpgrade": False, "version": "31.0.9.1", "versionstring": "31.0.9",
    "edition": "", "productname": "Nextcloud", "extendedSupport": False,
}
OWNCLOUD_STATUS = {
    "installed": True, "maintenance": False, "needsDbUpgrade": False, "version": "10.15.0.5", "versionstring": "10.15.0",
    "edition": "Community", "productname": "Our files", "product": "ownCloud",
}
CAPABILITIES = {
    "core": {"pollinterval": 60, "webdav-root": "remote.php/webdav"},
    "dav": {"chunking": "1.0"},
    "files": {"bigfilechunking": True, "undelete": False, "versioning": False},
    "checksums": {"supportedTypes": ["SHA1", "MD5"], "preferredUploadType": "SHA1"},
}
# A grey square of 16 by 16 pixels.
PREVIEW = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxO"
    "UlNSMj5aYVpQYEpRUk//wAALCAAQABABAREA/8QAFgABAQEAAAAAAAAAAAAAAAAAAAYH/8QAFhAAAwAAAAAAAAAAAAAAAAAAABVi"
    "/9oACAEBAAA/AJ1FARQacigIoP/Z")


class Entry:
    """A file or folder on the disk, and everything below it."""

    def __init__(self, path):
        self.path = path
        self.status = os.stat(path)
        self.is_folder = stat.S_ISDIR(self.status.st_mode)
        self.name = os.path.basename(path)
        self.size = self.status.st_size
        self.modified = int(self.status.st_mtime)
        digest = hashlib.md5(b"%d %d %d" % (self.status.st_ino, self.status.st_mtime_ns, self.status.st_size))
        if self.is_folder:
            digest = hashlib.md5(b"%d" % self.status.st_ino)
            self.size = 0
            # Nextcloud gives a folder a new ETag with each change of anything below it.
            for child in self.children():
                digest.update(child.name + b"\0" + child.etag.encode())
                self.size += child.size
                self.modified = max(self.modified, child.modified)
        self.etag = '"%s"' % digest.hexdigest()

    @property
    def number(self):
        return self.status.st_ino

    @property
    def type(self):
        return TYPES.get(os.path.splitext(self.name)[1].lower(), "application/octet-stream")

    @property
    def is_picture(self):
        return not self.is_folder and self.type.startswith("image/")

    def children(self):
        names = []
        for name in sorted(os.listdir(self.path)):
            try:
                # Nextcloud leaves out other names.
                name.decode()
                names.append(name)
            except UnicodeDecodeError:
                pass
        return [Entry(os.path.join(self.path, name)) for name in names]

    def taken(self):
        """The time of the EXIF data or, like Nextcloud, that of the file."""
        with open(self.path, "rb") as file:
            match = re.search(rb"(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)\0", file.read(65_536))
        if not match:
            return self.modified
        return int(email.utils.mktime_tz(tuple(map(int, match.groups())) + (0, 0, 0, 0)))

    def property(self, name, is_public):
        """The XML of a property; None if it has none."""
        if name == DAV + "resourcetype":
            return "<d:collection/>" if self.is_folder else ""
        files_only = {DAV + "getcontentlength": self.size, DAV + "getcontenttype": self.type}
        if name in files_only:
            return None if self.is_folder else str(files_only[name])
        if name == NEXTCLOUD + "metadata-photos-original_date_time":
            return str(self.taken()) if self.is_picture else None
        permissions = "G" if is_public else "RGDNVCK" if self.is_folder else "RGDNVW"
        values = {
            DAV + "getlastmodified": email.utils.formatdate(self.modified, usegmt=True),
            DAV + "getetag": self.etag,
            DAV + "displayname": self.name.decode(),
            OWNCLOUD + "fileid": self.number,
            OWNCLOUD + "id": "%08dstandin" % self.number,
            OWNCLOUD + "permissions": permissions,
            OWNCLOUD + "size": self.size,
            OWNCLOUD + "favorite": 0,
            OWNCLOUD + "share-types": "",
            OWNCLOUD + "data-fingerprint": "",
            NEXTCLOUD + "has-preview": "true" if self.is_picture else "false",
            NEXTCLOUD + "mount-type": "",
        }
        if self.is_folder:
            values[DAV + "quota-used-bytes"] = self.size
            values[DAV + "quota-available-bytes"] = -3
        return xml.sax.saxutils.escape(str(values[name]), {'"': "&quot;"}) if name in values else None

    @staticmethod
    def all_names():
        return [DAV + name for name in (
            "getlastmodified", "getcontentlength", "resourcetype", "quota-used-bytes", "quota-available-bytes", "getetag",
            "getcontenttype")]


def element(name, value):
    """An element with a value that is XML."""
    space, local = name[1:].split("}")
    prefix, declaration = PREFIXES.get(space), ""
    if prefix is None:
        prefix, declaration = "x1", " xmlns:x1=" + xml.sax.saxutils.quoteattr(space)
    tag = f"{prefix}:{local}"
    return f"<{tag}{declaration}>{value}</{tag}>" if value else f"<{tag}{declaration}/>"


def encoded(path):
    """Encodes a path as sabre/dav does."""
    return re.sub(rb"[^A-Za-z0-9_.~()/-]", lambda match: b"%%%02x" % match.group()[0], path).decode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    lock = threading.Lock()
    logins = {}
    log = settings = None

    def log_message(self, *_):
        pass

    # The answer

    def answer(self, code, body=b"", headers=(), kind="text/html; charset=UTF-8"):
        with self.lock:
            self.log.write(f"{self.command} {self.path} {code}\n")
            self.log.flush()
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        if code != 304:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def answer_json(self, value, code=200):
        # In PHP's form, which escapes slashes.
        text = json.dumps(value, separators=(",", ":")).replace("/", "\\/")
        self.answer(code, text.encode(), kind="application/json; charset=utf-8")

    def answer_ocs(self, data):
        good = 200 if "/v2.php" in self.path else 100
        self.answer_json({"ocs": {"meta": {"status": "ok", "statuscode": good, "message": "OK"}, "data": data}})

    def fail(self, code, words, headers=()):
        body = (
            '<?xml version="1.0" encoding="utf-8"?>\n<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns">\n'
            f"  <s:exception>Sabre\\DAV\\Exception</s:exception>\n  <s:message>{words}</s:message>\n</d:error>\n")
        self.answer(code, body.encode(), headers, kind="application/xml; charset=utf-8")

    # The request

    @property
    def is_ajax(self):
        return "XMLHttpRequest" in self.headers.get("X-Requested-With", "").split(",")

    def credentials(self):
        """The user and the password that were sent; None if none were."""
        scheme, _, text = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            user, _, password = base64.b64decode(text).decode().partition(":")
        except ValueError:
            return None
        return user, password

    def is_signed_in(self):
        sent = self.credentials()
        names = (self.settings["user"], self.settings["login"])
        return sent is not None and sent[0] in names and sent[1] in self.settings["passwords"]

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.handle_request
        raise AttributeError(name)

    def handle_request(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path, _, query = self.path.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.route(path)

    def route(self, path):
        page = path.removeprefix("/index.php") or "/"
        user_folder = "/remote.php/dav/files/" + urllib.parse.quote(self.settings["user"]) + "/"
        is_own_cloud = self.settings["isOwnCloud"]
        shares = r"/remote\.php/dav/public-files/" if is_own_cloud else r"/public\.php/dav/files/"
        share = re.match(shares + r"([^/]+)(/.*|$)", path)
        if share:
            return self.shared_files(share.group(1), path, is_own_cloud)
        if path.startswith("/remote.php/dav/photos/"):
            return self.albums(path) if self.admits_user() else None
        if path.startswith("/remote.php/dav/photospublic/"):
            return self.public_album(path)
        if path.startswith("/remote.php/"):
            for root in (user_folder, "/remote.php/webdav/"):
                if (path + "/").startswith(root):
                    return self.user_files(root, path)
            return self.fail(404, "File not found") if self.admits_user() else None
        if is_own_cloud and path.startswith("/public.php/dav/"):
            return self.answer(404)
        if self.command == "PROPFIND":
            # WebDAV starts further below.
            return self.answer(405)
        if path == "/status.php":
            return self.answer_json(OWNCLOUD_STATUS if is_own_cloud else STATUS)
        if path.startswith("/ocs/"):
            return self.ocs(path)
        if page == "/core/preview":
            others = [path for paths in (self.settings["sharedAlbums"] or {}).values() for path in paths]
            # Files of other users are not in the user's folder.
            return self.preview(self.query.get("fileId"), others)
        if page.startswith("/apps/photos/api/v1/publicPreview/"):
            return self.public_preview(page.rsplit("/", 1)[1])
        if page.startswith("/apps/photos/public/"):
            return self.page("Album", '<a href="https://nextcloud.com">Get your own free account</a>')
        if page.startswith("/apps/photos/api/v1/preview/"):
            return self.preview(page.rsplit("/", 1)[1], [])
        if page.startswith("/apps/files_sharing/publicpreview/"):
            return self.shared_preview(page.rsplit("/", 1)[1])
        if page == "/login/v2" or page.startswith("/login/v2/"):
            return self.login(page.removeprefix("/login/v2"))
        if page == "/":
            target = "/apps/dashboard/" if self.is_signed_in() else "/login"
            return self.answer(302, headers=[("Location", self.url(target))])
        if page == "/login":
            return self.page("Login", '<a href="/index.php/lostpassword">Forgot password?</a>')
        if page.startswith("/apps/") and not self.is_signed_in():
            target = "/login?redirect_url=" + urllib.parse.quote(self.path, safe="")
            return self.answer(303, headers=[("Location", self.url(target))])
        if page.startswith("/apps/"):
            return self.page("Files", '<a href="/index.php/apps/files/">Files</a><a href="/settings/user">You</a>')
        if page.startswith("/s/"):
            return self.share_page(page)
        return self.answer(404, b"<html><body>Page not found</body></html>")

    def url(self, path):
        return f"http://{self.headers['Host']}{path}"

    def page(self, title, links):
        text = f"<!DOCTYPE html><html><head><title>{title}</title></head><body><div id=\"content\">{links}</div></body></html>"
        self.answer(200, text.encode())

    # WebDAV

    def admits_user(self):
        """Answers and returns False if the request has no valid credentials."""
        is_refused = self.is_ajax and self.settings["isOwnCloud"]
        if self.is_signed_in() and not is_refused:
            return True
        if self.is_ajax:
            self.fail(
                401, "Cannot authenticate over ajax calls", [("WWW-Authenticate", 'DummyBasic realm="Nextcloud"')])
        else:
            self.fail(401, "No public access to this resource.", [
                ("WWW-Authenticate", 'Basic realm="Nextcloud", charset="UTF-8"'),
                ("WWW-Authenticate", 'Bearer realm="Nextcloud"')])
        return False

    def user_files(self, root, path):
        if self.admits_user():
            self.files(root, os.fsencode(self.settings["folder"]), path, False)

    def shared_files(self, token, path, is_own_cloud):
        share = self.settings["shares"].get(token)
        if share is None:
            return self.fail(404, "")
        if is_own_cloud:
            if share["password"] is not None and self.credentials() != ("public", share["password"]):
                return self.fail(401, "", [("WWW-Authenticate", 'Basic realm="ownCloud"')])
        elif share["password"] is not None:
            sent = self.credentials()
            if sent is None:
                # No challenge: Nextcloud throws before it makes one.
                return self.fail(401, "")
            if sent[1] != share["password"]:
                scheme = "DummyBasic" if self.is_ajax else "Basic"
                challenge = [("WWW-Authenticate", f'{scheme} realm="Nextcloud"')]
                return self.fail(401, "Cannot authenticate over ajax calls", challenge)
        if self.command != "GET" and not self.is_ajax and not is_own_cloud:
            # The answer of a server that shares nothing with other servers.
            return self.fail(401, "")
        folder = os.path.join(os.fsencode(self.settings["folder"]), os.fsencode(share["folder"]))
        root = "/remote.php/dav/public-files/" if is_own_cloud else "/public.php/dav/files/"
        self.files(f"{root}{token}/", folder.rstrip(b"/"), path, True)

    def files(self, root, folder, path, is_public):
        inner = urllib.parse.unquote_to_bytes((path + "/")[len(root):]).strip(b"/")
        if b".." in inner.split(b"/") or b"\0" in inner:
            return self.fail(400, "Invalid path")
        try:
            entry = Entry(os.path.join(folder, inner) if inner else folder)
        except OSError:
            return self.fail(404, "File with name " + xml.sax.saxutils.escape(inner.decode(errors="replace")) + " could not be located")
        base = encoded(urllib.parse.unquote_to_bytes(root))
        if self.command == "PROPFIND":
            self.properties(base, inner, entry, is_public)
        elif self.command in ("GET", "HEAD") and not entry.is_folder:
            self.file(entry)
        elif self.command == "OPTIONS":
            self.answer(200, headers=[("DAV", "1, 3, extended-mkcol"), ("Allow", "OPTIONS, GET, HEAD, PROPFIND")])
        else:
            self.fail(501, "GET is only implemented on File objects")

    def properties(self, base, inner, entry, is_public):
        try:
            wanted = self.wanted_properties()
        except xml.etree.ElementTree.ParseError:
            return self.fail(400, "This resource could not be parsed")
        entries = [entry]
        # Nextcloud takes "infinity" for 1.
        if entry.is_folder and self.headers.get("Depth") != "0":
            entries += entry.children()
        nodes = []
        for each in entries:
            path = inner if each is entry else inner + b"/" + each.name if inner else each.name
            href = base + encoded(path) + ("/" if each.is_folder and path else "")
            found, missing = [], []
            for name in wanted or Entry.all_names():
                value = each.property(name, is_public)
                if value is not None:
                    found.append(element(name, value))
                elif wanted:
                    missing.append(element(name, ""))
            nodes.append((href, (found, missing)))
        self.answer_nodes(nodes)

    def albums(self, path):
        """Serves the albums of the Photos app. A file's name begins with the number of the photo."""
        user, *rest = [urllib.parse.unquote(part) for part in path.removeprefix("/remote.php/dav/photos/").rstrip("/").split("/")]
        if user != self.settings["user"]:
            return self.fail(403, "")
        albums = {"albums": self.settings["albums"], "sharedalbums": self.settings["sharedAlbums"]}.get(rest[0] if rest else "")
        if albums is None:
            return self.fail(404, "")
        if len(rest) == 1 and self.command == "PROPFIND":
            return self.list_albums(user, rest[0], albums)
        if len(rest) not in (2, 3) or rest[1] not in albums:
            return self.fail(404, "")
        base = f"/remote.php/dav/photos/{encoded(user.encode())}/{rest[0]}/{encoded(rest[1].encode())}/"
        self.album(base, albums[rest[1]], rest[2] if len(rest) == 3 else None)

    def public_album(self, path):
        """Serves an album that is open to everyone with its token."""
        if self.is_ajax:
            # Nextcloud first asks for a user, and refuses to do so for scripts in web pages.
            return self.fail(
                401, "Cannot authenticate over ajax calls", [("WWW-Authenticate", 'DummyBasic realm="Nextcloud"')])
        token, *rest = [urllib.parse.unquote(part) for part in path.removeprefix("/remote.php/dav/photospublic/").rstrip("/").split("/")]
        paths = self.settings["publicAlbums"].get(token)
        if paths is None or len(rest) > 1:
            return self.fail(404, "Unable to find public album")
        self.album(f"/remote.php/dav/photospublic/{token}/", paths, rest[0] if rest else None)

    def album(self, base, paths, name):
        """Answers a request for an album, or for the photo with a name in it."""
        folder = os.fsencode(self.settings["folder"])
        entries = [Entry(os.path.join(folder, os.fsencode(path))) for path in paths]
        photos = {b"%d-%s" % (entry.number, entry.name): entry for entry in entries}
        photo = photos.get(os.fsencode(name)) if name is not None else None
        if name is not None and photo is None:
            return self.fail(404, name + " not found")
        if self.command in ("GET", "HEAD") and photo is not None:
            return self.file(photo)
        if self.command != "PROPFIND":
            return self.fail(501, "GET is only implemented on File objects")
        wanted = self.wanted_properties() or Entry.all_names()
        nodes = {} if photo is not None else {base: None}
        if photo is not None or self.headers.get("Depth") != "0":
            nodes |= {base + encoded(name): entry for name, entry in photos.items() if photo in (None, entry)}
        self.answer_nodes([(href, self.album_properties(entry, wanted, len(entries))) for href, entry in nodes.items()])

    def list_albums(self, user, home, albums):
        wanted = self.wanted_properties() or Entry.all_names()
        base = f"/remote.php/dav/photos/{encoded(user.encode())}/{home}/"
        nodes = {base: [[element(DAV + "resourcetype", "<d:collection/>")], []]}
        if self.headers.get("Depth") != "0":
            for name, photos in albums.items():
                nodes[base + encoded(name.encode()) + "/"] = self.album_properties(None, wanted, len(photos))
        self.answer_nodes(list(nodes.items()))

    def album_properties(self, photo, wanted, count):
        """Returns the properties of a photo in an album, or of the album, and the missing properties."""
        found, missing = [], []
        for name in wanted:
            if photo is None:
                values = {
                    DAV + "resourcetype": "<d:collection/>", NEXTCLOUD + "nbItems": str(count),
                    DAV + "getlastmodified": email.utils.formatdate(0, usegmt=True)}
                value = values.get(name)
            elif name == DAV + "getetag":
                # Without quotation marks, as the app writes it.
                value = photo.etag.strip('"')
            elif name == NEXTCLOUD + "file-name":
                value = xml.sax.saxutils.escape(photo.name.decode())
            else:
                value = None if name == DAV + "displayname" else photo.property(name, False)
            (missing if value is None else found).append(element(name, value or ""))
        return found, missing

    def answer_nodes(self, nodes):
        parts = []
        for href, lists in nodes:
            stats = "".join(
                f"<d:propstat><d:prop>{''.join(some)}</d:prop><d:status>HTTP/1.1 {status}</d:status></d:propstat>"
                for some, status in zip(lists, ("200 OK", "404 Not Found")) if some)
            parts.append(f"<d:response><d:href>{href}</d:href>{stats}</d:response>")
        spaces = " ".join(f'xmlns:{prefix}="{space}"' for space, prefix in PREFIXES.items())
        text = f'<?xml version="1.0"?>\n<d:multistatus {spaces}>{"".join(parts)}</d:multistatus>'
        self.answer(207, text.encode(), [("DAV", "1, 3")], kind="application/xml; charset=utf-8")

    def wanted_properties(self):
        """The names of the properties; none for all."""
        if not self.body:
            return []
        asked = xml.etree.ElementTree.fromstring(self.body).find(DAV + "prop")
        return [] if asked is None else [child.tag for child in asked]

    def file(self, entry):
        with open(entry.path, "rb") as file:
            body = file.read()
        headers = [
            ("ETag", entry.etag), ("OC-ETag", entry.etag), ("OC-FileId", "%08dstandin" % entry.number),
            ("Last-Modified", email.utils.formatdate(entry.modified, usegmt=True)), ("Accept-Ranges", "bytes"),
            ("Content-Disposition", "attachment; filename*=UTF-8''" + urllib.parse.quote(entry.name))]
        if self.headers.get("If-None-Match") == entry.etag:
            return self.answer(304, headers=headers)
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if span is None or self.headers.get("If-Range", entry.etag) != entry.etag:
            return self.answer(200, body, headers, kind=entry.type)
        first, last = int(span.group(1)), min(int(span.group(2) or len(body)), len(body) - 1)
        if first > last:
            return self.fail(416, "The start offset is not in the file")
        headers.append(("Content-Range", f"bytes {first}-{last}/{len(body)}"))
        self.answer(206, body[first:last + 1], headers, kind=entry.type)

    # Previews

    def answer_preview(self, entry):
        # A comment in the JPEG tells whose preview it is.
        words = b"preview of %d" % entry.number
        comment = b"\xff\xfe" + (len(words) + 2).to_bytes(2, "big") + words
        self.answer(200, PREVIEW[:2] + comment + PREVIEW[2:], [("ETag", entry.etag)], kind="image/jpeg")

    def preview(self, number, others):
        if not self.is_signed_in():
            return self.answer_json({"message": "Current user is not logged in"}, 401)
        if not self.asks_for_size():
            return self.answer_json([], 400)
        for folder, _, names in os.walk(os.fsencode(self.settings["folder"])):
            for name in names:
                path = os.path.join(folder, name)
                entry = Entry(path)
                if os.path.relpath(os.fsdecode(path), self.settings["folder"]) in others:
                    continue
                if str(entry.number) == number and entry.is_picture:
                    return self.answer_preview(entry)
        self.answer_json([], 404)

    def public_preview(self, number):
        if not self.asks_for_size():
            return self.answer_json([], 400)
        if "token" not in self.query:
            return self.answer_json([], 403)
        for path in self.settings["publicAlbums"].get(self.query["token"], []):
            entry = Entry(os.fsencode(os.path.join(self.settings["folder"], path)))
            if str(entry.number) == number and entry.is_picture:
                return self.answer_preview(entry)
        self.answer_json([], 404)

    def shared_preview(self, token):
        share = self.settings["shares"].get(token)
        # Without a session, a share with a password has no previews.
        if share is None or share["password"] is not None:
            return self.answer_json([], 404)
        if not self.asks_for_size() or not self.query.get("file"):
            return self.answer_json([], 400)
        file = os.path.join(self.settings["folder"], share["folder"], self.query["file"].lstrip("/"))
        if ".." in file.split("/") or not os.path.isfile(file):
            return self.answer_json([], 404)
        self.answer_preview(Entry(os.fsencode(file)))

    def asks_for_size(self):
        return all(self.query.get(side, "").isdigit() and int(self.query[side]) > 0 for side in "xy")

    # Other interfaces

    def ocs(self, path):
        if path.endswith("/cloud/capabilities"):
            return self.answer_ocs({"version": VERSION, "capabilities": CAPABILITIES})
        if not self.is_signed_in():
            challenge = [("WWW-Authenticate", 'Basic realm="Authorisation Required"')]
            return self.answer(401, b"{}", challenge, kind="application/json; charset=utf-8")
        if self.headers.get("OCS-APIRequest") != "true":
            return self.answer_json({"message": "CSRF check failed"}, 412)
        if path.endswith("/cloud/user"):
            return self.answer_ocs({
                "enabled": True, "id": self.settings["user"], "display-name": self.settings["user"],
                "quota": {"free": -3, "used": 0, "total": -3, "relative": 0, "quota": -3}})
        self.answer(404, b"{}", kind="application/json; charset=utf-8")

    def login(self, rest):
        """Login flow, version 2: one address for the browser, and another that the client asks again and again."""
        if rest == "" and self.command == "POST":
            login, token = secrets.token_urlsafe(96), secrets.token_urlsafe(96)
            self.logins[login] = {"token": token, "password": None}
            return self.answer_json({
                "poll": {"token": token, "endpoint": self.url("/login/v2/poll")},
                "login": self.url("/login/v2/flow/" + login)})
        if rest == "/poll" and self.command == "POST":
            token = dict(urllib.parse.parse_qsl(self.body.decode())).get("token")
            for login, state in list(self.logins.items()):
                if state["token"] == token and state["password"]:
                    del self.logins[login]
                    return self.answer_json({
                        "server": self.url(""), "loginName": self.settings["user"], "appPassword": state["password"]})
            return self.answer_json([], 404)
        state = self.logins.get(rest.removeprefix("/flow/"))
        if state is None:
            return self.answer(403, b"<html><body>Your login token is invalid or has expired</body></html>")
        if self.command == "POST":
            state["password"] = secrets.token_urlsafe(54)
            self.settings["passwords"].append(state["password"])
        self.page("Connect to your account", "You are about to grant access to your account.")

    def share_page(self, page):
        token, _, rest = page.removeprefix("/s/").partition("/")
        share = self.settings["shares"].get(token)
        if share is None:
            return self.answer(404, b"<html><body>Share not found</body></html>")
        if share["password"] is not None and not rest:
            return self.answer(303, headers=[("Location", self.url(f"/s/{token}/authenticate/showShare"))])
        self.page("Share", '<a href="https://nextcloud.com">Get your own free account</a>')


def main():
    port, log, settings = sys.argv[1:]
    with open(settings) as file:
        Handler.settings = json.load(file)
    Handler.log = open(log, "w")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
    server.daemon_threads = True
    server.serve_forever()


main()
