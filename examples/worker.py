#!/usr/bin/env python3
"""A worker for Sluice's job queue, with only Python's standard library.

It claims jobs of the kind `greet`, runs them in threads, renews their locks while they run, and reports their results:

    SLUICE_KEY=sk_... examples/worker.py --url http://127.0.0.1:8080

A job may run again after a crash, so a handler must be idempotent. A worker that lost its lock stops: another worker may
have the job by then.
"""

import argparse
import json
import os
import socket
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor


class Permanent(Exception):
    """Retrying cannot help."""


def greet(payload, lock_lost):
    """The work itself. A long-running one checks `lock_lost.is_set()` periodically."""
    if "name" not in payload:
        raise Permanent("the payload has no name")
    return {"greeting": f"Hello, {payload['name']}!"}


HANDLERS = {"greet": greet}
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 10  # seconds, while the server is unavailable


class Queue:
    def __init__(self, url, key):
        self.url, self.key = url, key

    def post(self, what, body):
        request = urllib.request.Request(
            f"{self.url}/api/v1/jobs/{what}",
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def claim(self, worker, limit, wait_ms):
        body = {"worker": worker, "kinds": list(HANDLERS), "limit": limit, "waitMs": wait_ms}
        return self.post("claim", body)["jobs"]


def lock_of(job):
    return {"id": job["id"], "lockToken": job["lockToken"]}


def run(job, lock_lost):
    """Which route is told of the end, and what."""
    try:
        return "complete", {**lock_of(job), "result": HANDLERS[job["kind"]](job["payload"], lock_lost)}
    except Permanent as error:
        return "fail", {**lock_of(job), "error": str(error), "permanent": True}
    except Exception as error:  # reported as a failure of the job, whatever its type
        return "fail", {**lock_of(job), "error": f"{type(error).__name__}: {error}"}


def keep_locks(queue, jobs, lost, ended, every):
    """Renews the locks of a batch until it has ended."""
    while not ended.wait(every):
        try:
            results = queue.post("heartbeat", {"jobs": [lock_of(job) for job in jobs]})["results"]
        except OSError:
            continue  # the next one may get through
        for result in results:
            if not result["accepted"]:
                lost[result["id"]].set()


def tell(queue, route, items):
    """Reports results until the server has answered. A repeated report is refused, which is harmless."""
    pause = FIRST_PAUSE
    while True:
        try:
            return queue.post(route, {"jobs": items})["results"]
        except urllib.error.HTTPError as error:
            if error.code < 500:  # the server refused the request; repeating it cannot help
                raise
        except OSError:
            pass
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def work_on(queue, jobs, pool, heartbeat):
    """Runs a batch and returns how many were done and how many failed."""
    lost = {job["id"]: threading.Event() for job in jobs}
    ended = threading.Event()
    keeper = threading.Thread(target=keep_locks, args=(queue, jobs, lost, ended, heartbeat))
    keeper.start()
    try:
        outcomes = list(pool.map(lambda job: run(job, lost[job["id"]]), jobs))
        for route in ("complete", "fail"):
            items = [item for outcome, item in outcomes if outcome == route]
            if items:
                tell(queue, route, items)
    finally:
        ended.set()  # not before the results have arrived: until then the jobs are ours
        keeper.join()
    done = sum(1 for outcome, _ in outcomes if outcome == "complete")
    return done, len(outcomes) - done


def main():
    arguments = argparse.ArgumentParser(description="Works on jobs of the kind greet. The key is $SLUICE_KEY.")
    arguments.add_argument("--url", default="http://127.0.0.1:8080")
    arguments.add_argument("--batch", type=int, default=10)
    arguments.add_argument("--heartbeat", type=float, default=60, help="seconds; well below the kind's lock_ttl")
    arguments.add_argument("--until-idle", action="store_true", help="stop when there is nothing to do")
    options = arguments.parse_args()
    queue = Queue(options.url, os.environ["SLUICE_KEY"])
    worker = f"{socket.gethostname()}:{os.getpid()}"
    done = failed = 0
    with ThreadPoolExecutor(options.batch) as pool:
        while True:
            try:
                jobs = queue.claim(worker, options.batch, 0 if options.until_idle else 30_000)
                if not jobs and options.until_idle:
                    break
                batch_done, batch_failed = work_on(queue, jobs, pool, options.heartbeat) if jobs else (0, 0)
                done, failed = done + batch_done, failed + batch_failed
            except OSError as error:  # the server is away: unfinished jobs come again when their locks have run out
                print(f"{error}; again in 5 s")
                time.sleep(5)
    print(f"{done} done, {failed} failed")


if __name__ == "__main__":
    main()
