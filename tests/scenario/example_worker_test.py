#!/usr/bin/env python3
"""examples/worker.py against a server that loses its first answer: it tells again, and keeps the lock meanwhile."""

import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

JOB = {"id": "018f4e1c-6d2a-7c3e-9f10-0242ac120002", "kind": "greet", "payload": {"name": "you"}, "lockToken": "7"}


class Stub(http.server.BaseHTTPRequestHandler):
    calls = []
    heard_again = threading.Event()  # a heartbeat, after the result was told for the first time

    def do_POST(self):
        route = self.path.rsplit("/", 1)[1]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told_before = route in self.calls
        self.calls.append(route)
        if route == "heartbeat" and "complete" in self.calls:
            self.heard_again.set()
        if route == "complete" and not told_before:
            self.heard_again.wait(20)
            self.answer(503, {})
        elif route == "claim":
            self.answer(200, {"jobs": [] if told_before else [JOB]})
        else:
            self.answer(200, {"results": [{"id": job["id"], "accepted": True} for job in body["jobs"]]})

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    worker = Path(__file__).resolve().parent.parent.parent / "examples" / "worker.py"
    ran = subprocess.run(
        [sys.executable, worker, "--url", f"http://127.0.0.1:{server.server_port}", "--heartbeat", "0.05", "--until-idle"],
        env={**os.environ, "SLUICE_KEY": "sk_none"}, capture_output=True, text=True, timeout=60, check=False)
    server.shutdown()
    assert "1 done, 0 failed" in ran.stdout, ran.stdout + ran.stderr
    assert Stub.calls.count("complete") == 2, Stub.calls
    assert Stub.heard_again.is_set(), "the lock was not renewed while the result was on its way"


if __name__ == "__main__":
    main()
