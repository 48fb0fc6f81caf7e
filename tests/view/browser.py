"""A headless Chromium driven through its DevTools pipe: no network, no package besides the browser."""
import base64
import json
import os
import select
import shutil
import struct
import subprocess
import tempfile
import zlib

SECONDS = 30  # longest wait for one answer


class Page:
    """One tab. `errors` gathers exceptions and console errors, `requests` every address asked for."""

    def __init__(self, width=1300, height=900):
        self.profile = tempfile.mkdtemp()
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()

        def plumb():
            # Out of the way first: the numbers may already be 3 and 4.
            a, b = os.dup(to_browser), os.dup(from_browser)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-dev-shm-usage",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
             "--user-data-dir=" + self.profile, "--remote-debugging-pipe", "--window-size=%d,%d" % (width, height),
             "about:blank"],
            preexec_fn=plumb, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.buffer, self.session = 0, b"", None
        self.events, self.errors, self.requests = [], [], []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Performance"):
            self.call(domain + ".enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(5)
        except Exception:
            os.killpg(self.process.pid, 9)
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def read(self):
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], SECONDS)[0]:
                raise TimeoutError("no answer from the browser")
            piece = os.read(self.input, 1 << 16)
            if not piece:
                raise EOFError("the browser is gone")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(str(params["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.lifecycleEvent":
            self.events.append((params["loaderId"], params["name"]))

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") != self.number:
                self.note(answer)
            elif "error" in answer:
                raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
            else:
                return answer["result"]

    def open(self, path, fragment=""):
        self.events, self.errors, self.requests = [], [], []
        loader = self.call("Page.navigate", url="file://" + os.path.abspath(path) + fragment)["loaderId"]
        while (loader, "load") not in self.events:
            self.note(self.read())

    def js(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", expression))
        return answer["result"].get("value")

    def text(self, selector):
        return self.js("(document.querySelector(%s) || {}).textContent" % json.dumps(selector))

    def count(self, selector):
        return self.js("document.querySelectorAll(%s).length" % json.dumps(selector))

    def click(self, selector):
        x, y = self.js("""(() => { const node = document.querySelector(%s); node.scrollIntoView({block: "nearest"});
            const box = node.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"""
                       % json.dumps(selector))
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, key):
        text = key if len(key) == 1 else ""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def media(self, kind="screen", scheme="light"):
        self.call("Emulation.setEmulatedMedia", media=kind,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def busy(self):
        """Seconds that the page's thread has worked since it was opened."""
        metrics = {m["name"]: m["value"] for m in self.call("Performance.getMetrics")["metrics"]}
        return metrics["TaskDuration"]

    def screenshot(self, path=None):
        """The picture as rows of (red, green, blue)."""
        png = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path:
            with open(path, "wb") as file:
                file.write(png)
        return pixels(png)


def pixels(png):
    """Rows of (red, green, blue) of an 8-bit PNG without interlacing."""
    at, data, head = 8, b"", None
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        head = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else head
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, colour = head[:4]
    assert depth == 8 and colour in (2, 6) and head[6] == 0, head
    size = 4 if colour == 6 else 3
    raw, rows, before = zlib.decompress(data), [], bytearray(width * size)
    for y in range(height):
        start = y * (width * size + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + width * size])
        for k in range(len(line)):
            left = line[k - size] if k >= size else 0
            up, corner = before[k], before[k - size] if k >= size else 0
            if kind == 1:
                line[k] = (line[k] + left) & 255
            elif kind == 2:
                line[k] = (line[k] + up) & 255
            elif kind == 3:
                line[k] = (line[k] + (left + up) // 2) & 255
            elif kind == 4:
                guess = left + up - corner
                best = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
                line[k] = (line[k] + best) & 255
        rows.append([tuple(line[k:k + 3]) for k in range(0, len(line), size)])
        before = line
    return rows
