#!/usr/bin/python3
"""trace.py ALAR PAGE HISTORY: exports the history, opens it in Perfetto's page, which lies at PAGE, and asks its trace
processor in SQL for what the history holds. The page is served on the loopback interface and reaches nothing else."""
import functools
import glob
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Page  # noqa: E402 (beside this file)

ALAR, PAGE, HISTORY = sys.argv[1:]


class Served(http.server.SimpleHTTPRequestHandler):
    trace = b""

    def do_GET(self):
        if self.path != "/trace.json":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.trace)))
        self.end_headers()
        self.wfile.write(self.trace)

    def log_message(self, *_):
        pass


def expected():
    """What the records say, without alar: all-reduces, waits and nanoseconds blocked by rank, and single events."""
    files = sorted(glob.glob(HISTORY + "/*.jsonl")) if os.path.isdir(HISTORY) else [HISTORY]
    records = [json.loads(line) for name in files for line in open(name)]
    at = {id(r): r["t"] if "t" in r else 1000 * (k + 1) for k, r in enumerate(records)}
    if any(r.get("clock") == "ticks" for r in records):
        at = {key: 1000 * t for key, t in at.items()}  # a tick is shown as a microsecond
    issued, waited, pending, blocked = {}, {}, {}, {}
    for record in records:
        rank = record.get("rank")
        key = (rank, record.get("op"))
        if record["ev"] == "issue":
            issued[key] = record
            pending[rank] = pending.get(rank, 0) + 1
        elif record["ev"] == "wait":
            waited.setdefault(key, at[id(record)])
        elif record["ev"] == "done" and key in issued:
            began = at[id(issued[key])] if issued[key].get("sync") else waited.get(key)
            if began is not None:
                count, total = blocked.get(rank, (0, 0))
                blocked[rank] = count + 1, total + at[id(record)] - began
    return pending, blocked


def rows(page, sql, **columns):
    text = "(async () => { const rows = [], it = (await app.trace.engine.query(%s)).iter(%s);" % (
        json.dumps(sql), json.dumps({name: kind for name, kind in columns.items()}))
    text += " for (; it.valid(); it.next()) rows.push([%s].map((v) => typeof v === 'bigint' ? Number(v) : v)); return rows; })()" % (
        ", ".join("it." + name for name in columns))
    return page.js(text)


def main():
    trace = tempfile.NamedTemporaryFile(suffix=".json")
    subprocess.run([ALAR, "export", "--perfetto", "-o", trace.name, HISTORY], check=True, timeout=60)
    Served.trace = trace.read()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Served, directory=PAGE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = Page()
    try:
        here = "http://127.0.0.1:%d/" % server.server_port
        page.call("Page.navigate", url=here + "index.html#!/?url=" + here + "trace.json")
        deadline = time.monotonic() + 60
        while not page.js("!!(window.app && app.trace && app.trace.traceInfo)"):
            assert time.monotonic() < deadline, "Perfetto's page did not open the trace"
            time.sleep(0.2)
        of_rank = """from slice s join thread_track t on s.track_id = t.id join thread using (utid) join process using (upid)
            where s.category = 'blocked' group by process.name"""
        blocked = {int(name.split()[1]): (count, total) for name, count, total in
                   rows(page, "select process.name as name, count(*) as n, sum(s.dur) as d " + of_rank, name="str", n=0, d=0)}
        pending = {int(name.split()[1]): count for name, count in rows(
            page, """select process.name as name, count(*) as n from slice s join process_track t on s.track_id = t.id
            join process using (upid) where s.category = 'pending' group by process.name""", name="str", n=0)}
        errors = rows(page, "select name, value as n from stats where severity in ('error', 'data_loss') and value > 0", name="str", n=0)
        assert (pending, blocked) == expected(), ((pending, blocked), expected())
        assert not errors, errors
        print("%d all-reduces pending, %d waits of %d ns, %d errors" % (
            sum(pending.values()), sum(n for n, _ in blocked.values()), sum(d for _, d in blocked.values()), len(errors)))
    finally:
        page.close()
        server.shutdown()


main()
