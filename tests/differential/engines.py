"""Engines under comparison, each in a child process that is started again after a crash or a hang."""

import os
import pickle
import select
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXECUTOR = Path(__file__).with_name("executor.py")


class Engine:
    """`run(case)` returns an outcome (see executor.py) and never raises for what the engine does."""

    def __init__(self, name, environment=None, seconds=20):
        self.name = name
        self.environment = environment or {}
        self.seconds = seconds
        self.process = None
        self.log = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        environment = {**os.environ, "RUST_BACKTRACE": "0", "POLARS_PANIC_ON_ERR": "0", **self.environment}
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [sys.executable, str(EXECUTOR), self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=environment,
        )

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.log.close()
        self.process = None

    def run(self, request):
        if self.process is None:
            self.start()
        data = pickle.dumps(request)
        try:
            self.process.stdin.write(struct.pack("<q", len(data)) + data)
            self.process.stdin.flush()
            header = self._read(8, time.monotonic() + self.seconds)
            return pickle.loads(self._read(struct.unpack("<q", header)[0], time.monotonic() + self.seconds))
        except TimeoutError:
            self.stop()
            return "timeout", f"{self.seconds} s", ""
        except (EOFError, BrokenPipeError):
            return self._crash()

    def _crash(self):
        code = self.process.wait()
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        self.stop()
        return "crash", f"exit {code}", "\n".join(lines[-30:])

    def _read(self, n_bytes, deadline):
        data = bytearray()
        descriptor = self.process.stdout.fileno()
        while len(data) < n_bytes:
            ready, _, _ = select.select([descriptor], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            piece = os.read(descriptor, n_bytes - len(data))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)
