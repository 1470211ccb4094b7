"""What Schemathesis cannot know from /openapi.json: how to make files of bookmarks, and what it cannot send twice."""

import threading

import schemathesis
from hypothesis import strategies as st

HEAD = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n"
names = st.text("abcdefghijklmnopqrstuvwxyz0123456789 -é한", max_size=20)

# They lead to no page: the import ends at once, and with it the stream of its events.
bookmarks = names.map('<DT><A HREF="javascript:void(0)">{}</A>\n'.format)
folders = st.recursive(
    bookmarks,
    lambda entries: st.builds(lambda name, some: f"<DT><H3>{name}</H3>\n<DL><p>\n{''.join(some)}</DL><p>\n",
                              names, st.lists(entries, max_size=3)),
    max_leaves=5)
files = st.lists(folders, max_size=5).map(lambda entries: f"{HEAD}<DL><p>\n{''.join(entries)}</DL><p>\n".encode())

schemathesis.openapi.media_type("text/html", files)


# A claim may wait for half a minute, which is long for a test.
LONGEST_WAIT_MS = 200
# With which body each Idempotency-Key was sent: another body with the same key is refused, and no schema can say so.
sent = {}
sent_lock = threading.Lock()


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.operation.path == "/api/v1/jobs/claim" and isinstance(case.body, dict):
        wait = case.body.get("waitMs")
        if isinstance(wait, (int, float)) and LONGEST_WAIT_MS < wait <= 30_000:
            case.body = {**case.body, "waitMs": LONGEST_WAIT_MS}
    if case.operation.path == "/api/v1/jobs" and "Idempotency-Key" in case.headers:
        with sent_lock:
            if sent.setdefault(case.headers["Idempotency-Key"], case.body) != case.body:
                del case.headers["Idempotency-Key"]
