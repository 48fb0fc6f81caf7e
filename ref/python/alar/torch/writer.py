"""Makes text of what was recorded, in a background thread, and writes it.

A file holds one rank's records. In the ring mode (`last`) it is one of several: each *segment* has its
own directory, and the oldest ones are removed. What is written is written at once, without a buffer of
this process, so that neither a fork nor a kill can lose or double it.
"""
import json
import os
import sys
import threading
import time
from collections import deque

from . import native, values

FLUSH_SECONDS = 0.2
SLICE = 16  # records after which the program's threads may run: they would wait 5 ms else

now = time.monotonic_ns


def warn(text):
    """One line for people; a program whose standard error is closed goes on."""
    try:
        sys.stderr.write("alar.torch: %s\n" % text)
        sys.stderr.flush()
    except Exception:
        pass


class File:
    """One rank's file of one segment: open until its operations are over."""

    def __init__(self, path, header):
        self.path, self.lines, self.last = path, 1, 0
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self.parts = [header]
        self.flush()

    def flush(self):
        data = "".join(self.parts).encode()
        self.parts = []
        while data:
            data = data[os.write(self.descriptor, data):]

    def close(self):
        self.flush()
        os.close(self.descriptor)

    def remove(self):
        os.close(self.descriptor)
        os.unlink(self.path)
        try:
            os.rmdir(os.path.dirname(self.path))
        except OSError:
            pass  # other ranks still have theirs there


class Writer:
    """`header(segment)` gives the first line of a file; `path(segment)` its place."""

    def __init__(self, rank, path, header, t0):
        self.rank, self.path_of, self.header_of, self.t0 = rank, path, header, t0
        self.queue, self.files, self.keys, self.names = native.Queue(), {}, {}, {}
        self.declared = {}  # what every file must say of groups and metrics: the fields of the records, in their order
        self.lock, self.wake, self.pid = threading.Lock(), threading.Event(), os.getpid()
        self.newest = {}  # segment by group
        self.has_failed = False
        self.file(0)
        threading.Thread(target=self._work, daemon=True, name="alar.torch").start()

    def add(self, event, op, value, where):
        self.queue.append((event, op, now(), value, where))

    def stop(self, is_whole=True):
        """Writes all there is and, unless something is missing, the regular end."""
        self.wake.set()
        with self.lock:
            if self.has_failed or os.getpid() != self.pid:
                return
            try:
                self._drain()
                for file in self.files.values():
                    if is_whole:
                        file.parts.append(self._text(file, "end", None, now(), None, None))
                    file.close()
            except OSError as error:
                self._fail(error)

    # ---- the background thread ------------------------------------------------------------------

    def _work(self):
        while not self.wake.wait(FLUSH_SECONDS):
            if os.getpid() != self.pid:
                return
            with self.lock:
                if self.has_failed:
                    return
                try:
                    self._drain()
                except OSError as error:
                    self._fail(error)
                    return

    def _fail(self, error):
        self.has_failed = True
        native.stop()
        self.queue = deque(maxlen=0)
        warn("%s: nothing more is recorded by rank %d; the program goes on" % (error, self.rank))

    def _drain(self):
        queue = self.queue
        while queue:
            for number in range(min(len(queue), 500)):
                event, op, t, value, where = queue.popleft()
                try:
                    self._put(event, op, t, value, where)
                except OSError:
                    raise
                except Exception as error:  # a mistake of ours must not end what can still be written
                    warn("a record `%s` was left out: %s: %s" % (
                        event, type(error).__name__, error))
                if number % SLICE == SLICE - 1:
                    time.sleep(0)
            for file in self.files.values():
                file.flush()

    def _put(self, event, op, t, value, where):
        if event == "declare":
            self.declared[value] = None
            for file in self.files.values():
                file.parts.append(self._text(file, event, None, t, value, None))
            return
        if event == "segment":  # the group goes on to a new one: (group, segment)
            self._retire(*value)
            return
        segment = op.segment if op is not None else max(self.files)
        if segment not in self.files and event != "issue":
            return  # its segment has been removed
        file = self.file(segment)
        file.parts.append(self._text(file, event, op, t, value, where))

    def file(self, segment):
        """The file of a segment; opened, with all that is known of groups, when it is new."""
        file = self.files.get(segment)
        if file is None:
            file = self.files[segment] = File(self.path_of(segment), self.header_of(segment))
            for value in self.declared:
                file.parts.append(self._text(file, "declare", None, now(), value, None))
        return file

    def _retire(self, group, segment):
        """Removes what is older than the last two segments of every group."""
        self.newest[group] = segment
        needed = {one for newest in self.newest.values() for one in (newest, newest - 1)}
        for old in [one for one in self.files if one not in needed and one < segment]:
            self.files.pop(old).remove()

    # ---- text -----------------------------------------------------------------------------------

    def _text(self, file, event, op, t, value, where):
        # Threads take their time before they take their place: time must not run backwards.
        file.last = max(file.last, t - self.t0)
        text = '{"ev":"%s","rank":%d,"i":%d,"t":%d' % (event, self.rank, file.lines, file.last)
        file.lines += 1
        if op is not None:
            text += ',"op":%s%d"' % (self._name(op.group), op.number)
        if where is not None:
            text += ',"src":%s' % self._place(where)
        text_of = getattr(self, "_text_" + event, None)
        return text + (text_of(op, value) if text_of else "") + "}\n"

    def _name(self, group):
        """As the beginning of the name of an operation."""
        name = self.names.get(group)
        if name is None:
            name = self.names[group] = json.dumps(group)[:-1] + "/"
        return name

    def _place(self, where):
        key = self.keys.get(where)
        if key is None:
            key = self.keys[where] = json.dumps("%s:%d" % (os.path.basename(where[0]), where[1]))
        return key

    def _text_issue(self, op, value):
        copied, version, fields = value
        sync = "true" if op.is_sync else "false"
        kind = "" if op.kind == "all_reduce" else ',"coll":"%s"' % op.kind
        if op.root is not None:
            kind += ',"root":%d' % op.root
        if op.dtype is None:
            return '%s,"dtype":"u8","n":%d,"sync":%s,"buf":"%x","refused":"dtype"%s' % (
                kind, op.n * op.size, sync, op.address, fields)
        word = values.reduction_word(op.red) if op.red is not None else "sum"
        # Without a word for the reduction there is no value to judge.
        bits = "" if word is None or copied is False else ',"in":' + values.row(
            copied, op.dtype, op.before, op.kept)
        return '%s,"red":"%s","dtype":"%s","n":%d,"sync":%s,"buf":"%x"%s%s%s' % (
            kind, word or "sum", op.dtype, op.n, sync, op.address, self._text_wait(op, version), bits,
            fields)

    def _text_wait(self, op, version):
        return "" if version is None else ',"ver":%d' % version

    def _text_done(self, op, value):
        if value is None:
            return ""
        copied, version = value
        bits = ""
        if copied is not None:
            count = op.kept if op.part is None else op.part[1]
            bits = '%s,"out":[%s]' % (
                "" if op.part is None else ',"at":%d' % op.part[0],
                ",".join(values.words(values.raw(copied), op.dtype)[:count]))
        return self._text_wait(op, version) + bits

    _text_complete = _text_done

    def _text_test(self, op, done):
        return ',"done":%s' % ("true" if done else "false")

    def _text_fail(self, op, value):
        return ',"error":%s,"text":%s' % (json.dumps(value[0]), json.dumps(value[1]))

    def _text_read(self, op, value):
        at, count, copied = value
        bits = "" if copied is None else ',"bits":' + values.text(copied, op.dtype)
        return ',"at":%d,"n":%d%s' % (at, count, bits)

    _text_write = _text_read

    def _text_declare(self, op, fields):
        return fields

    def _text_exit(self, op, value):
        return ',"code":%d,"text":%s' % (value[0], json.dumps(value[1]))

    def _text_report(self, op, fields):
        return fields
