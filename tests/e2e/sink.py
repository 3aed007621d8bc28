"""sink.py PORT: an HTTP server that takes bodies; each is a line of its output, SHA-256 and what is missing.

The answer is a body of 100000 bytes."""
import hashlib, http.server, sys

class Sink(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        left, digest = int(self.headers["Content-Length"]), hashlib.sha256()
        while left:
            data = self.rfile.read(min(left, 65536))
            if not data:
                break
            digest.update(data)
            left -= len(data)
        print(f"{digest.hexdigest()} {left}\n", end="", flush=True)  # one write: threads share the output
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = lambda self: (self.send_response(204), self.end_headers())
    log_message = lambda self, *arguments: None

body = b"x" * 100000
http.server.ThreadingHTTPServer.request_queue_size = 64
http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Sink).serve_forever()
