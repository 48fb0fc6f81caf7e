"""Four hosts at two sites on one machine: network namespaces, a control network without delay for the launchers (ctl0), and
a slow one (wan0) through router.c. Hosts 1 and 2 are site 0, hosts 3 and 4 site 1. Needs root, and leaves nothing behind.

    with Sites(build, delay_us=10000) as sites:
        done = sites.run(sites.mpich(["build/alar", "run", ...]), seconds=60)
        sites.tell("cut")
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
HOSTS = 4
CONTROL, SLOW = "10.99.0.", "10.98.0."


class NoNamespaces(Exception):
    """Why sites can't be made here, in a line."""


def shell(text):
    done = subprocess.run(text, shell=True, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoNamespaces(f"{text.split(chr(10))[0]}: {done.stderr.strip() or 'exit code %d' % done.returncode}")
    return done.stdout


class Sites:
    def __init__(self, build, delay_us=10000):
        self.build, self.delay_us = os.path.abspath(build), delay_us
        self.prefix = f"alar{os.getpid()}-"
        self.folder = None
        self.router = None

    def __enter__(self):
        if os.geteuid() != 0:
            raise NoNamespaces("network namespaces need root")
        for program in ("ip", "nsenter", "unshare"):
            if not shutil.which(program):
                raise NoNamespaces(f"expected the program {program}, found none")
        # A run that is ended takes its hosts with it.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        self.folder = tempfile.mkdtemp(prefix="sites")
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self):
        with open(os.path.join(self.folder, "prefix"), "w", encoding="utf-8") as file:
            file.write(self.prefix)
        with open(os.path.join(self.folder, "hosts"), "w", encoding="utf-8") as file:
            file.write("127.0.0.1 localhost\n" + "".join(f"{CONTROL}{n} host{n}\n" for n in range(1, HOSTS + 1)))
        bridge = self.prefix + "b"
        shell(f"ip netns add {bridge} && ip -n {bridge} link add br0 type bridge && ip -n {bridge} link set br0 up")
        for n in range(1, HOSTS + 1):
            host = f"{self.prefix}{n}"
            shell(f"ip netns add {host} && ip -n {host} link set lo up"
                  f" && ip -n {host} link add ctl0 type veth peer name p{n} netns {bridge}"
                  f" && ip -n {bridge} link set p{n} master br0 up"
                  f" && ip -n {host} addr add {CONTROL}{n}/24 dev ctl0 && ip -n {host} link set ctl0 up")
        for name in ["disk"] + [f"disk{n}" for n in range(1, HOSTS + 1)]:
            os.mkdir(os.path.join(self.folder, name))
        places = [f"{self.prefix}{n}={SLOW}{n}/{(n - 1) // 2}" for n in range(1, HOSTS + 1)]
        self.router = subprocess.Popen([os.path.join(self.build, "tests/network/router"), *places], text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if self.router.stdout.readline() != "ready\n":
            raise NoNamespaces(self.router.stderr.read().strip())
        try:
            # Before the ranks: a packet that waits for a core is a packet that is late.
            os.sched_setscheduler(self.router.pid, os.SCHED_FIFO, os.sched_param(10))
        except OSError:
            pass
        self.tell(f"delay {self.delay_us}")

    def __exit__(self, *_):
        self.end_all()
        if self.router:
            self.router.stdin.close()
            self.router.wait()
            for pipe in (self.router.stdout, self.router.stderr):
                pipe.close()
        for name in [*range(1, HOSTS + 1), "b"]:
            subprocess.run(["ip", "netns", "del", f"{self.prefix}{name}"], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def tell(self, command):
        """A command of router.c."""
        self.router.stdin.write(command + "\n")
        self.router.stdin.flush()

    def link(self, name, state, hosts):
        """Sets the network `name`, ctl0 or wan0, of these hosts up or down."""
        for n in hosts:
            shell(f"ip -n {self.prefix}{n} link set {name} {state}")

    def processes(self):
        """What runs on the hosts, by process id."""
        found = []
        for n in range(1, HOSTS + 1):
            done = subprocess.run(["ip", "netns", "pids", f"{self.prefix}{n}"], capture_output=True, text=True, check=False)
            found += [int(pid) for pid in done.stdout.split()]
        return found

    def end_all(self):
        """Ends what runs on the hosts, launchers first or last."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def mpich(self, command):
        """Four ranks, one a host. Preloaded: what makes waiting ranks yield, and what lets MPI_Finalize return."""
        shims = ":".join(os.path.join(self.build, "tests/preload", shim) for shim in ("yield.so", "unflush.so"))
        return ["mpiexec.mpich", "-iface", "ctl0", "-launcher", "ssh", "-launcher-exec", os.path.join(HERE, "on_host"),
                "-hosts", ",".join(f"{CONTROL}{n}" for n in range(1, HOSTS + 1)), "-n", "4", "-ppn", "1",
                "-genv", "LD_PRELOAD", shims, *command]

    def openmpi(self, command):
        return ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "plm", "rsh",
                "--mca", "plm_rsh_agent", os.path.join(HERE, "on_host"), "--mca", "oob_tcp_if_include", "ctl0",
                "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "wan0",
                "--mca", "mpi_yield_when_idle", "1", "--host", ",".join(f"host{n}:1" for n in range(1, HOSTS + 1)),
                "-n", "4", *command]

    def start(self, command, **options):
        """The command on host 1, where launchers belong; a Popen."""
        environment = {**os.environ, "ALAR_SITES": self.folder, "UCX_TLS": "tcp,self,sm", "UCX_NET_DEVICES": "wan0"}
        return subprocess.Popen([os.path.join(HERE, "on_host"), "host1", "exec " + shlex.join(command)],
                                env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **options)

    def run(self, command, seconds):
        """(exit code, standard output, standard error); after so many seconds everything on the hosts is ended, 124."""
        process = self.start(command)
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.end_all()
            out, err = process.communicate()
            return 124, out, err
        return process.returncode, out, err
