"""A server of chat completions in a process of its own, to be killed: `python killed_server.py PORT PROGRAM ANSWERED`.

It answers every request with the program in the file PROGRAM, made different by a number, and appends the digest of
each prompt that it answered to the file ANSWERED. It imports nothing of MEMENTO, so that it starts at once.
"""

import hashlib
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

THINKS_S = 0.4


class Handler(BaseHTTPRequestHandler):
    """Answers after a while, so that a kill meets requests in flight."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(THINKS_S)
        prompt = body["messages"][0]["content"]
        read = len(prompt) // 4
        program = f"{Path(sys.argv[2]).read_text()}\n\nNUMBER = {time.time_ns()}\n"
        text = f"Summary: another number\n\n```python\n# whole program\n{program}```\n"
        answer = json.dumps({
            "id": "c", "object": "chat.completion", "created": 1, "model": body["model"],
            "choices": [{
                "index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop",
            }],
            "usage": {"prompt_tokens": read, "completion_tokens": 10, "total_tokens": read + 10},
        }).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        self.wfile.flush()
        with Path(sys.argv[3]).open("a") as answered:
            answered.write(hashlib.sha256(prompt.encode()).hexdigest() + "\n")

    def log_message(self, *_: object) -> None:
        """Print nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
