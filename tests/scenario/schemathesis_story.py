"""The life of a job, a document and an import, each answer compared with /openapi.json.

    schemathesis_story.py URL KEY

Requests made by chance rarely get this far: a claim wants the kind of a job that is there, a result the token of its lock.
"""
import sys

import schemathesis
from schemathesis.checks import load_all_checks

from schemathesis_hooks import HEAD

url, key = sys.argv[1:]
load_all_checks()
schema = schemathesis.openapi.from_url(url + "/openapi.json")


def call(method, path, status, headers=None, **parts):
    """Sends a request, compares its answer with the document and gives it."""
    case = schema[path][method].Case(headers={"Authorization": f"Bearer {key}", **(headers or {})}, **parts)
    response = case.call_and_validate()
    assert response.status_code == status, f"{method} {path}: {response.status_code} {response.text}"
    return response


def post(path, status, body, **parts):
    return call("POST", path, status, body=body, media_type="application/json", **parts).json()


JOBS = "/api/v1/jobs"
JOB = JOBS + "/{id}"
job = post(JOBS, 201, {"jobs": [{"kind": "story", "payload": {"a": [1, None, 1e300, 2**70]}, "maxAttempts": 1}]},
           headers={"Idempotency-Key": "story"})["jobs"][0]
place = {"path_parameters": {"id": job["id"]}}
claimed = post(JOBS + "/claim", 200, {"worker": "w", "kinds": ["story"], "waitMs": 30_000})["jobs"][0]
lock = {"id": claimed["id"], "lockToken": claimed["lockToken"]}
assert post(JOBS + "/heartbeat", 200, {"jobs": [lock]})["results"][0]["accepted"]
assert call("GET", JOB, 200, **place).json()["status"] == "running"
call("POST", JOB + "/cancel", 409, **place)
assert post(JOBS + "/fail", 200, {"jobs": [{**lock, "error": "no"}]})["results"][0]["accepted"]
assert call("GET", JOBS, 200, query={"status": "dead", "kind": "story", "limit": 1}).json()["jobs"][0]["id"] == job["id"]
call("POST", JOB + "/retry", 200, **place)
again = post(JOBS + "/claim", 200, {"worker": "w", "kinds": ["story"], "waitMs": 30_000})["jobs"][0]
done = {"id": again["id"], "lockToken": again["lockToken"], "result": {"b": "c"}}
assert post(JOBS + "/complete", 200, {"jobs": [done]})["results"][0]["accepted"]
assert not post(JOBS + "/complete", 200, {"jobs": [done]})["results"][0]["accepted"]
assert call("GET", JOB, 200, **place).json()["status"] == "succeeded"
call("GET", JOBS + "/stats", 200)

DOCUMENT = "/api/v1/documents/{origin}/{path}"
there = {"path_parameters": {"origin": "scourt", "path": "hello.xml"}}
tag = call("GET", DOCUMENT, 200, **there).headers["etag"][0]
call("GET", DOCUMENT, 304, headers={"If-None-Match": tag}, **there)
call("GET", DOCUMENT, 404, path_parameters={"origin": "scourt", "path": "none.xml"})
ORIGIN = "/api/v1/documents/{origin}"
fetched = post(ORIGIN, 200, {"path": "extra/a.xml", "caseType": "x"}, path_parameters={"origin": "scourt"})
assert fetched["source"] == "origin", fetched
call("GET", ORIGIN, 200, path_parameters={"origin": "scourt"}, query={"path": "extra/a.xml"})

IMPORTS = "/api/v1/imports"
file = HEAD + '<DL><p>\n<DT><A HREF="https://a.example/">A</A>\n</DL><p>\n'
made = call("POST", IMPORTS, 202, body=file.encode(), media_type="text/html")
place = {"path_parameters": {"id": made.json()["id"]}}
assert made.headers["location"] == [f"{IMPORTS}/{made.json()['id']}"]
assert call("GET", "/api/v1/links", 200).json()["links"]
call("POST", IMPORTS + "/{id}/cancel", 200, **place)
assert "event: DONE" in call("GET", IMPORTS + "/{id}/events", 200, **place).text
assert call("GET", IMPORTS + "/{id}", 200, **place).json()["status"] == "canceled"
