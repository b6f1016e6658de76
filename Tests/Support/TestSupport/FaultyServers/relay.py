"""TLS on loopback in front of a server without it: what comes is handed on, both ways, until that one closes.

    relay.py CERTIFICATE KEY PORT (farewell|silence)

It writes its port. RFC 8446, section 6.1: who closes a connection of TLS says so first, by an alert called close_notify.
With "silence" it does not.
"""
import select
import socket
import ssl
import sys
import threading


def hand_on(stream, server):
    """Returns when the server has closed, or the client is gone."""
    while True:
        ready = [stream] if stream.pending() else select.select([stream, server], [], [])[0]
        for source, sink in ((stream, server), (server, stream)):
            if source in ready:
                data = source.recv(65_536)
                if not data:
                    return
                sink.sendall(data)


def serve(client, context, port, farewell):
    try:
        with context.wrap_socket(client, server_side=True) as stream:
            with socket.create_connection(("127.0.0.1", port)) as server:
                hand_on(stream, server)
            if farewell:
                stream.unwrap()
    except (EOFError, OSError):
        pass


def main():
    certificate, key, port, end = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, context, int(port), end == "farewell"), daemon=True).start()


main()
