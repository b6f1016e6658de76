"""An HTTP/2 server on loopback with one fault, named by the third argument.

    http2.py CERTIFICATE KEY FAULT [FILE]

It prints its port, and then its events: "connection", "request STREAM", "weight STREAM WEIGHT". Frames are written by
hand (RFC 9113, section 4.1). It writes only header blocks that need no table, and reads none.
"""
import pathlib
import select
import socket
import ssl
import struct
import sys
import threading

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM, ENHANCE_YOUR_CALM = 0, 2, 7, 11
DIGITS = b"0123456789" * 100
# The body of answers: the contents of the file, if one is named.
BODY = pathlib.Path(sys.argv[4]).read_bytes() if len(sys.argv) > 4 else DIGITS
# Begins like a JPEG. Half of it is large enough to be kept.
PHOTO = b"\xff\xd8\xff\xe0" + DIGITS * 200
HALF = 100_000


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A header field outside of the table (RFC 7541, section 6.2.2)."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def head(stream, status=b"\x88", length=len(BODY), flags=END_HEADERS, more=b""):
    """The head of an answer; 0x88 is ":status: 200" of the static table."""
    return frame(HEADERS, flags, stream, status + literal(b"content-length", b"%d" % length) + more)


def goaway(last, error=NO_ERROR):
    return frame(GOAWAY, 0, 0, struct.pack(">II", last, error))


def reset(stream, error):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", error))


def data(stream, body=BODY, flags=END_STREAM):
    return frame(DATA, flags, stream, body)


def pieces(stream, body, flags=END_STREAM):
    """A long body in frames of at most 16,384 bytes."""
    parts = [body[start : start + 16_000] for start in range(0, len(body), 16_000)]
    return b"".join(data(stream, part, 0) for part in parts[:-1]) + data(stream, parts[-1], flags)


# The stream that carried half of a photo.
halves = []


def say(*words):
    print(*words, flush=True)


def answer(fault, stream, connection):
    """Returns the bytes to send for a request, and whether the connection ends then."""
    middle = len(BODY) // 2
    half = data(stream, BODY[:middle], 0)
    match fault:
        case "none":
            return head(stream) + data(stream), False
        case "page":
            # HTTP/2 needs no length: the last frame of a body is marked.
            fields = b"\x88" + literal(b"content-type", b"text/html")
            return frame(HEADERS, END_HEADERS, stream, fields) + data(stream), False
        case "goaway-before":
            return goaway(0), True
        case "goaway-once":
            return (goaway(0), True) if connection == 1 else (head(stream) + data(stream), False)
        case "goaway-during":
            return head(stream) + half + goaway(stream) + data(stream, BODY[middle:]), False
        case "goaway-after":
            return head(stream) + data(stream) + goaway(stream), False
        case "goaway-and-close":
            return head(stream) + half + goaway(stream, INTERNAL_ERROR), True
        case "reset-before":
            return reset(stream, INTERNAL_ERROR), False
        case "reset-during":
            return head(stream) + half + reset(stream, INTERNAL_ERROR), False
        case "reset-without-error":
            return head(stream) + half + reset(stream, NO_ERROR), False
        case "photo-in-two":
            # The requested range is not read: a client that accepts the rest has asked for it.
            tag = literal(b"etag", b'"1"')
            if not halves:
                halves.append(stream)
                # The stream ends after all of the half has arrived: earlier, curl would drop buffered data.
                first = pieces(stream, PHOTO[:HALF], 0) + frame(PING, 0, 0, bytes(8))
                return head(stream, length=len(PHOTO), more=tag) + first, False
            place = literal(b"content-range", b"bytes %d-%d/%d" % (HALF, len(PHOTO) - 1, len(PHOTO)))
            # 0x8a is ":status: 206".
            rest = PHOTO[HALF:]
            return head(stream, b"\x8a", len(rest), more=tag + place) + pieces(stream, rest), False
        case "refused":
            return reset(stream, REFUSED_STREAM), False
        case "refused-once":
            is_first = connection == stream == 1
            return (reset(stream, REFUSED_STREAM) if is_first else head(stream) + data(stream)), False
        case "calm":
            return reset(stream, ENHANCE_YOUR_CALM), False
        case "close-before":
            return b"", True
        case "close-during":
            return head(stream) + half, True
        case "short":
            return head(stream) + data(stream, BODY[:middle]), False
        case "long":
            return head(stream, length=middle) + data(stream), False
        case "empty":
            return frame(HEADERS, END_HEADERS | END_STREAM, stream, b""), False
        case "no-status":
            return frame(HEADERS, END_HEADERS, stream, literal(b"a", b"b")) + data(stream), False
        case "garbage":
            return b"\xff" * 4096, False
        case "bad-table":
            return frame(HEADERS, END_HEADERS, stream, b"\xff\xff\xff\xff\xff\xff"), False
        case "huge-frame":
            return head(stream) + b"\xff\xff\xff\0\0" + struct.pack(">I", stream) + b"x" * 65536, False
        case "endless-headers":
            field = literal(b"x", b"y" * 100) * 100
            return (
                frame(HEADERS, 0, stream, b"\x88")
                + b"".join(frame(CONTINUATION, 0, stream, field) for _ in range(200)),
                False,
            )
        case "stall":
            return head(stream) + half, False
        case "weights":
            return head(stream) + half, False
        case "falls-silent":
            return head(stream) + data(stream), False
        case "first-hangs":
            return frame(HEADERS, END_HEADERS, stream, b"\x88") + data(stream, BODY[:10], 0), False
        case "http1":
            return b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", True
    sys.exit("no such fault: " + fault)


def take(stream, count):
    parts = b""
    while len(parts) < count:
        part = stream.recv(count - len(parts))
        if not part:
            raise EOFError
        parts += part
    return parts


def serve(stream, fault, number):
    take(stream, 24)
    stream.sendall(frame(SETTINGS, 0, 0))
    asked = []
    while True:
        # Pings keep curl sending: it sends weights only with other frames.
        while fault == "weights" and not stream.pending() and not select.select([stream], [], [], 0.02)[0]:
            stream.sendall(frame(PING, 0, 0, bytes(8)))
        # The second comes in small pieces while the first is awaited.
        while len(asked) == 2 and fault == "first-hangs" and not select.select([stream], [], [], 0.02)[0]:
            stream.sendall(data(asked[1], BODY[:10], 0))
        length, kind, flags, identifier = struct.unpack(">IBBI", b"\0" + take(stream, 9))
        payload = take(stream, length)
        if kind == HEADERS:
            asked.append(identifier)
        if fault == "falls-silent" and number == 1 and len(asked) > 1:
            continue
        if kind == SETTINGS and not flags & ACK:
            stream.sendall(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            stream.sendall(frame(PING, ACK, 0, payload))
        elif kind == PING and halves:
            stream.sendall(reset(halves[0], INTERNAL_ERROR))
        elif kind == RST_STREAM and fault == "first-hangs":
            stream.sendall(data(asked[1], b""))
        elif kind == PRIORITY:
            say("weight", identifier, payload[4] + 1)
            if fault == "weights":
                stream.sendall(data(identifier, BODY[500:]))
        elif kind == HEADERS:
            say("request", identifier)
            # The priority precedes the fields: a four-byte dependency and a weight.
            if flags & 0x20:
                say("weight", identifier, payload[4] + 1)
            out, ends = answer(fault, identifier, number)
            stream.sendall(out)
            if ends and fault == "goaway-once":
                # Closing with unread frames would reset the connection, and the client might miss the message.
                stream.settimeout(10)
                stream.shutdown(socket.SHUT_WR)
                while stream.recv(4096):
                    pass
            if ends:
                return


def connection(client, context, fault, number):
    try:
        with context.wrap_socket(client, server_side=True) as stream:
            say("connection")
            serve(stream, fault, number)
    except (EOFError, OSError):
        pass


def main():
    certificate, key, fault = sys.argv[1:4]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2"])
    listener = socket.create_server(("127.0.0.1", 0))
    say(listener.getsockname()[1])
    number = 0
    while True:
        client, _ = listener.accept()
        number += 1
        threading.Thread(target=connection, args=(client, context, fault, number), daemon=True).start()


main()
