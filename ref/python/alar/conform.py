"""torch.distributed as a back end on trial: what `alar conform torch:gloo` starts.

    python3 -m alar.conform LIBRARY TRANSPORT CONFIG

Torch is loaded once and the ranks of every world are forked from there. Standard input is a socket: it says "ready" there,
and for each "RANKS FILE" that comes it answers the process that forked those ranks. Each hands a table (struct alar_backend of backend.h) to LIBRARY,
alar-rank.so, which plays its scenes on it. All-reduces work on the caller's own buffers: torch reduces in place, so a
contribution is first copied to where its result goes. One `wait` is made of polls, for torch has none that can be repeated.
"""
import ctypes
import datetime
import os
import signal
import sys
import time

E_ILLEGAL, E_INPUT, E_UNSUPPORTED, E_BACKEND, E_TIMEOUT = 1, 6, 7, 10, 11  # enum alar_status
DTYPES = ("float16", "bfloat16", "float32", "float64", "int32", "int64", "uint8", "int8", "int16", "uint16", "uint32", "uint64")
REDUCTIONS = ("SUM", "AVG", "MAX", "MIN")  # both in the order of backend.h
HOST_TRANSPORTS = ("gloo", "mpi", "ucc")
FOREVER, POLL_S = 2 ** 64 - 1, 200e-6
PR_SET_PDEATHSIG = 1

i32, u32, u64, u8, pointer = ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint8, ctypes.c_void_p
pointers = ctypes.POINTER(pointer)
ints = ctypes.POINTER(ctypes.c_int)


def function(*arguments):
    return ctypes.CFUNCTYPE(ctypes.c_int, *arguments)


class Boot(ctypes.Structure):
    _fields_ = [("rank", i32), ("ranks", i32), ("local_rank", i32), ("config", ctypes.c_char_p), ("world", pointer),
                ("peers", pointer), ("log", ctypes.CFUNCTYPE(None, pointer, ctypes.c_char_p)),
                ("allgather", function(pointer, pointer, pointer, u64)), ("barrier", function(pointer))]


class Caps(ctypes.Structure):
    _fields_ = [("dtypes", u32), ("reductions", u32), ("wait_kind", u32), ("outstanding_max", u32), ("tree_height", u32),
                ("is_in_place", u8), ("allows_empty", u8), ("needs_progress", u8), ("has_fixed_order", u8),
                ("can_block", u8), ("adder", u8), ("width", u8), ("nan", u8), ("avg", u8), ("tree", ctypes.c_char * 31)]


CALLS = (("init", function(pointers, ctypes.POINTER(Boot))),
         ("caps", function(pointer, ctypes.POINTER(Caps))),
         ("fini", function(pointer)),
         ("comm_create", function(pointer, ctypes.POINTER(i32), i32, u64, pointers)),
         ("comm_free", function(pointer)),
         ("allreduce", function(pointer, pointer, pointer, u64, u32, u32, pointer, pointer, pointers)),
         ("test", function(pointer, ints, ints)),
         ("wait", function(pointer, pointer, u64, ints)),
         ("request_free", function(pointer)))
OPTIONAL = 16  # functions that follow, all left out


class Table(ctypes.Structure):
    _fields_ = [("size", u32), ("abi", u32), ("name", ctypes.c_char_p), *CALLS, ("optional", pointer * OPTIONAL)]


class Distributed:
    """The functions of the table, for one transport of torch.distributed."""

    def __init__(self, torch, transport):
        self.torch, self.dist, self.transport = torch, torch.distributed, transport
        self.groups, self.works, self.made = {}, {}, 0
        self.dtypes = [getattr(torch, name, None) for name in DTYPES]
        self.boot, self.offered = None, {}

    def table(self):
        table = Table(size=ctypes.sizeof(Table), abi=1, name=b"torch:" + self.transport.encode())
        for name, kind in CALLS:
            setattr(table, name, kind(self.guarded(getattr(self, name))))
        return table

    def guarded(self, call):
        """An exception is an error of the back end; its text goes to the log."""
        def guard(*arguments):
            try:
                return call(*arguments) or 0
            except Exception as error:  # whatever torch raises
                text = "%s: %s" % (call.__name__, str(error).split("\n")[0])
                self.boot.log(self.boot.peers, text.encode()[:150])
                return -E_BACKEND
        return guard

    def keep(self, kept, value):
        self.made += 1
        kept[self.made] = value
        return self.made

    def init(self, context, boot):
        self.boot = boot = boot.contents
        port = (u32 * 1)(0)
        ports = (u32 * boot.ranks)()
        store = None
        if boot.rank == 0:
            store = self.dist.TCPStore("127.0.0.1", 0, boot.ranks, True, wait_for_workers=False)
            port[0] = store.port
        if boot.allgather(boot.peers, ctypes.cast(port, pointer), ctypes.cast(ports, pointer), 4):
            return -E_BACKEND
        if store is None:
            store = self.dist.TCPStore("127.0.0.1", ports[0], boot.ranks, False)
        self.dist.init_process_group(self.transport, store=store, rank=boot.rank, world_size=boot.ranks,
                                     timeout=datetime.timedelta(minutes=3))
        boot.local_rank = boot.rank
        context[0] = 1

    def works_with(self, dtype, reduction):
        try:
            self.dist.all_reduce(self.torch.ones(2).to(dtype), op=getattr(self.dist.ReduceOp, reduction))
            return True
        except (RuntimeError, AttributeError, ValueError, TypeError):
            return False

    def caps(self, _context, caps):
        """What is offered is found by trying: all ranks try the same."""
        caps = caps.contents
        for number, dtype in enumerate(self.dtypes):
            if dtype is not None and self.works_with(dtype, "SUM"):
                self.offered[number] = dtype
                caps.dtypes |= 1 << number
        for number, name in enumerate(REDUCTIONS):
            caps.reductions |= self.works_with(self.torch.float32, name) << number
        caps.is_in_place = caps.allows_empty = caps.can_block = 1

    def fini(self, _context):
        self.dist.destroy_process_group()

    def comm_create(self, _context, ranks, count, _epoch, comm):
        members = [ranks[i] for i in range(count)] if ranks else list(range(self.boot.ranks))
        group = self.dist.new_group(members)
        comm[0] = self.keep(self.groups, group) if self.boot.rank in members else None

    def comm_free(self, comm):
        del self.groups[comm]

    def allreduce(self, comm, send, recv, count, dtype, reduction, _stream, _op, request):
        kind = self.offered.get(dtype)
        op = getattr(self.dist.ReduceOp, REDUCTIONS[reduction], None) if reduction < len(REDUCTIONS) else None
        if kind is None or op is None:
            return -E_UNSUPPORTED
        if count > 0:
            size = count * self.torch.empty(0, dtype=kind).element_size()
            if send != recv:
                ctypes.memmove(recv, send, size)
            tensor = self.torch.frombuffer((ctypes.c_char * size).from_address(recv), dtype=kind)
        else:
            tensor = self.torch.empty(0, dtype=kind)
        work = self.dist.all_reduce(tensor, op=op, group=self.groups[comm], async_op=True)
        if request:
            request[0] = self.keep(self.works, (work, tensor))
        else:
            work.wait()

    def test(self, request, done, error):
        work, _ = self.works[request]
        done[0] = int(work.is_completed())
        error[0] = -E_BACKEND if done[0] and not work.is_success() else 0

    def wait(self, request, _stream, timeout_us, error):
        work, _ = self.works[request]
        until = time.monotonic() + min(timeout_us, 10 ** 15) * 1e-6
        while not work.is_completed():
            if timeout_us != FOREVER and time.monotonic() >= until:
                return -E_TIMEOUT
            time.sleep(POLL_S)
        error[0] = 0 if work.is_success() else -E_BACKEND

    def request_free(self, request):
        if not self.works[request][0].is_completed():
            return -E_ILLEGAL
        del self.works[request]


def serve(library, file, transport, config):
    """One rank; returns its exit code."""
    import torch
    import torch.distributed
    torch.set_num_threads(1)
    backend = Distributed(torch, transport)
    table = backend.table()
    return library.alar_conform_serve(file.encode(), ctypes.byref(table), config.encode())


def fork(library, file, ranks, transport, config):
    """All ranks of one world, and word of how each ended."""
    child = {}
    for rank in range(ranks):
        pid = os.fork()
        if pid == 0:
            os.environ.update(ALAR_RANK=str(rank), ALAR_RANKS=str(ranks), RANK=str(rank), LOCAL_RANK=str(rank),
                              WORLD_SIZE=str(ranks))
            code = 4
            try:
                code = serve(library, file, transport, config)
            finally:
                os._exit(code)
        child[pid] = rank
    while child:
        pid, status = os.wait()
        if pid in child:
            library.alar_conform_ended(file.encode(), child.pop(pid), status)
    return 0


def world(library, file, ranks, transport, config, middle):
    """The process that forks the ranks, once whoever started this Python is its parent."""
    while os.getppid() == middle:
        time.sleep(1e-4)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.environ["ALAR_JOB"] = str(os.getpid())
    none = os.open(os.devnull, os.O_RDONLY)
    os.dup2(none, 0)
    os._exit(fork(library, file, ranks, transport, config))


def world_start(*arguments):
    """Forks twice: who is orphaned goes to the nearest process that asked for such. Returns its number."""
    ours, theirs = os.pipe()
    middle = os.fork()
    if middle == 0:
        middle = os.getpid()
        pid = os.fork()
        if pid == 0:
            world(*arguments, middle)
        os.setpgid(pid, pid)
        os.write(theirs, b"%d" % pid)
        os._exit(0)
    os.close(theirs)
    os.waitpid(middle, 0)
    answer = os.read(ours, 32)
    os.close(ours)
    return answer


def missing(transport):
    """One line of what is missing; None when nothing is."""
    try:
        import torch.distributed as dist
    except ImportError as error:
        return str(error)
    if transport not in HOST_TRANSPORTS:
        return "expected one of %s, which reduce in the host's memory" % ", ".join(HOST_TRANSPORTS)
    is_there = dist.is_available() and getattr(dist, "is_%s_available" % transport, lambda: False)()
    return None if is_there else "this torch was built without %s" % transport


def main(arguments):
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 3
    library, transport, config = arguments
    why = missing(transport)
    if why is not None:
        print(why, file=sys.stderr)
        return 3
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # they are all on this machine
    library = ctypes.CDLL(library)
    os.write(0, b"ready")
    for asked in iter(lambda: os.read(0, 8192), b""):
        ranks, file = asked.decode().split(" ", 1)
        os.write(0, world_start(library, file, int(ranks), transport, config))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
