"""The parts that all stand-ins for photo servers share. A stand-in gets PORT LOG SETTINGS CONTROL as arguments."""
import base64
import http.server
import json
import sys

# A grey square of 16 by 16 pixels.
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxO"
    "UlNSMj5aYVpQYEpRUk//wAALCAAQABABAREA/8QAFgABAQEAAAAAAAAAAAAAAAAAAAYH/8QAFhAAAwAAAAAAAAAAAAAAAAAAABVi"
    "/9oACAEBAAA/AJ1FARQacigIoP/Z")


def jpeg(text):
    """Returns the grey square with a comment."""
    comment = text.encode()
    return JPEG[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + JPEG[2:]


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        # Clients may close their connections at any time.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def serve(handler, library):
    """Serves until the process ends. `library` makes the photos of the settings, and obeys the orders in CONTROL."""
    port, log, settings, control = sys.argv[1:]
    for path in (log, control):
        with open(path, "a"):
            pass
    with open(settings) as file:
        photos = library(json.load(file), control)
    server = Server(("127.0.0.1", int(port)), handler)
    server.log = log
    server.library = photos
    server.serve_forever()
