"""What the benchmarks that compare servers share: ports, processes, and the CPU they use."""
import os
import re
import socket
import subprocess
import sys
import time

BIN = os.environ.get("SLUICE_BIN", "build/release/bin")
SERVER_CORE, CLIENT_CORE = "0", "1"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def first_child(pid):
    deadline = time.time() + 10
    while time.time() < deadline and not children(pid):
        time.sleep(0.05)
    return children(pid)[0]


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def on_server_core(command, **options):
    return subprocess.Popen(["taskset", "-c", SERVER_CORE, *command], **options)


def wait_for_port(port):
    deadline = time.time() + 10
    while time.time() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"nothing listens on port {port}")


def run_wrk(server, path, connections, seconds, more=()):
    """Requests a second and microseconds of the server's CPU for each."""
    command = ["taskset", "-c", CLIENT_CORE, "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", *more]
    before = cpu_seconds(server.pid)
    out = subprocess.run(command + [f"http://127.0.0.1:{server.port}{path}"], capture_output=True, text=True)
    spent = cpu_seconds(server.pid) - before
    if "Non-2xx" in out.stdout or "Socket errors" in out.stdout:
        sys.exit(f"{server.name} answered wrongly:\n{out.stdout}")
    requests = int(re.search(r"(\d+) requests in", out.stdout).group(1))
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out.stdout).group(1))
    return rate, spent / requests * 1e6
