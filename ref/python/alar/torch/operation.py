"""One collective of this rank, as far as it is recorded."""
import itertools

from . import values

ROWS = ("all_gather", "gather")           # a sum of rows that are nothing outside of one's own place
PARTS = ("reduce", "gather", "reduce_scatter")  # a rank gets only a part of the result, or none

_UNKNOWN_LAYOUT = None, 0
_unknown = itertools.count(1)  # stands for the address of a result that torch has yet to make


class Operation:
    """`sources` and `targets` are the tensors that are read and written; they are held only while the
    operation is pending. Elements are counted over all tensors, one after the other. `flat`: bytes at
    `address` that are all of what is kept, contribution and result; 0 where it is not that simple."""
    red = root = None
    segment = 0
    before, part, is_giver = 0, None, True
    flat = 0
    is_pending = True                  # as far as the program knows
    is_over = is_quiet = False         # waited for, or failed; somebody has its future
    has_polled = False
    written = None                     # counter of writes when it ended
    views = None                       # weak references to what is watched with it
    is_blind = False                   # what a look at its result finds is not kept

    def __init__(self, kind, sources, targets, red=None, root=None):
        """`targets` None: in place. `root`: its place in the group."""
        self.kind, self.sources, self.red, self.root = kind, sources, red, root
        self.targets = sources if targets is None else targets
        # Other results, and those of a call for several tensors, torch copies to their place itself: the
        # counter of writes then says nothing about the program.
        self.has_version = targets is None and kind == "all_reduce"

    def measure(self, group, limit):
        """Its dtype and size, and which of its elements this rank gives and gets; at most `limit` are kept."""
        mine = self.sources or self.targets
        first = mine[0]
        self.group = group.name
        self.dtype, size = values.LAYOUTS.get(first.dtype, _UNKNOWN_LAYOUT)
        self.size = size or first.element_size()
        count = first.numel() if len(mine) == 1 else sum(one.numel() for one in mine)
        self.address = self.targets[0].data_ptr() if self.targets else next(_unknown)
        if self.kind != "all_reduce":
            return self._measure_part(group, count, limit)
        self.n = count
        self.kept = count if count < limit else limit
        if self.has_version and self.dtype is not None and first.is_cpu and first.is_contiguous():
            self.flat = self.kept * self.size

    def _measure_part(self, group, count, limit):
        kind, place = self.kind, group.place
        if self.dtype is None and (kind in ROWS or kind == "broadcast"):
            self.dtype, count, self.size = "u8", count * self.size, 1  # bits that are only moved
        self.n = count * group.count if kind in ROWS else count
        self.kept = min(self.n, values.ROW_ELEMENTS if self.n <= values.ROW_ELEMENTS else limit)
        if kind in ROWS:
            self.before = place * count
        if kind == "broadcast":
            self.is_giver = self.root == place
        elif kind == "reduce_scatter":
            chunk = self.n // group.count
            at = min(place * chunk, self.kept)
            self.part = at, min(at + chunk, self.kept) - at
        elif kind in PARTS:
            self.part = 0, self.kept if self.root == place else 0
        if self.root is not None:
            self.root = group.members[self.root]

    def contribution(self):
        """What this rank puts in, as it is now; None where that is nothing."""
        if self.flat:
            return values.bytes_at(self.address, self.flat)
        room = self.kept - self.before
        if self.dtype is None or not self.is_giver or room <= 0:
            return None
        return self._copy(self.sources or self.targets, room)

    def result(self):
        """What is in its buffer now; None where it has no dtype."""
        if self.flat and self.targets[0].data_ptr() == self.address:  # else it was moved since the call
            return values.bytes_at(self.address, self.flat)
        if self.dtype is None:
            return None
        count = self.kept if self.part is None else self.part[1]
        return self._copy(self.targets, count) if count else b""

    def version(self):
        """The counter of the program's writes into the result; None where it counts others too."""
        return values.version(self.targets[0]) if self.has_version and self.targets else None

    def _copy(self, tensors, elements):
        if len(tensors) == 1:
            tensor = tensors[0]
            return values.copy(tensor, -(-elements * self.size // tensor.element_size()))
        return values.copy_all(tensors, -(-elements * self.size // tensors[0].element_size()))
