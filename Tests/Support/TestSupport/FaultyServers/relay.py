"""A TLS relay on loopback to a plain server. It passes data on both ways until that server closes.

    relay.py CERTIFICATE KEY PORT (farewell|silence)

It prints its port. RFC 8446, section 6.1: a side that closes a TLS connection sends a close_notify alert first. With
"silence" the relay sends none.
"""
import select
import socket
import ssl
import sys
import threading


def relay(stream, server):
    """Passes data on until the server has closed or the client is gone."""
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
                relay(stream, server)
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
