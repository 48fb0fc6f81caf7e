"""Writes Flight Recorder dumps, right and wrong: dumps.py DIR. The first is that of torch's own tutorial
(two ranks, the second one leaves before the last all-reduce), version 2.5."""
import copy
import gzip
import json
import os
import pickle
import sys

DIR = sys.argv[1]
START = 1724779239936775119


def entry(number, state, name="nccl:all_reduce", sizes=(3, 4), dtype="Float"):
    created = START + number * 1000000
    return {"frames": [
                {"name": "all_reduce", "filename": "/lib/torch/distributed/distributed_c10d.py", "line": 2696},
                {"name": "<module>", "filename": "crash.py", "line": 44}],
            "record_id": number, "pg_id": 0, "process_group": ("0", "default_pg"),
            "collective_seq_id": number + 1, "p2p_seq_id": 0, "op_id": number + 1, "profiling_name": name,
            "time_created_ns": created, "input_sizes": [list(sizes)], "input_dtypes": [dtype],
            "output_sizes": [list(sizes)], "output_dtypes": [dtype], "state": state,
            "time_discovered_started_ns": None,
            "time_discovered_completed_ns": created + 50000 if state == "completed" else None,
            "retired": state == "completed", "timeout_ms": 1000, "is_p2p": False}


def dump(count, done=4, version="2.5"):
    return {"version": version, "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
            "pg_status": {}, "entries": [entry(k, "completed" if k < done else "scheduled") for k in range(count)]}


def write(name, *dumps, **how):
    for rank, one in enumerate(dumps):
        data = one if isinstance(one, bytes) else pickle.dumps(one)
        with open(os.path.join(DIR, "%s_%d" % (name, rank)), "wb") as file:
            file.write(data)


def changed(one, **fields):
    one = copy.deepcopy(one)
    one["entries"][2].update(fields)
    return one


class Evil:
    def __reduce__(self):
        return os.system, ("touch %s/ran" % DIR,)


os.makedirs(DIR, exist_ok=True)
write("tutorial", dump(5), dump(4))
write("json", *(json.dumps(one).encode() for one in (dump(5), dump(4))))
write("healthy", dump(4), dump(4))
write("flying", dump(5), dump(5))
late = dump(5)
late["entries"].append(entry(5000, "completed"))
late["entries"][-1].update(process_group=("1", "other"), collective_seq_id=1)
late["pg_config"]["1"] = {"name": "1", "desc": "other", "ranks": "[0]"}
write("overdue", late, dump(5))
write("sizes", changed(dump(4), input_sizes=[[3, 5]]), dump(4))
write("dtypes", changed(dump(4), input_dtypes=["Half"]), dump(4))
write("kinds", dump(4), changed(dump(4), profiling_name="nccl:broadcast"))
write("unknown", changed(dump(4), profiling_name="nccl:all_to_all"), dump(4))
ring = dump(4)
ring["entries"] = ring["entries"][2:]
write("ring", ring, dump(4))
gloo = dump(4, version="2.10")
for one in gloo["entries"]:
    one.update(profiling_name="gloo:all_reduce", state="scheduled", retired=True, time_discovered_completed_ns=None)
write("gloo", *(json.dumps(gloo).encode() for _ in range(2)))
write("evil", {"entries": [Evil()]})
write("gzip", gzip.compress(pickle.dumps(dump(4))))
write("chrome", b'{"traceEvents":[]}')
write("nccl", b"host:1:1 [0] NCCL INFO Bootstrap\n")
write("empty", b"")
write("history", b'{"ev":"issue","rank":0,"op":0,"in":[1]}\n')
write("cut", pickle.dumps(dump(4))[:200])
write("zip", b"PK\x03\x04 and so on")
write("html", b"<html></html>")
write("text", b"hello")
