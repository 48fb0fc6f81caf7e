"""Sums that stay on a device until the host has them: added in fp64 there, copied to pinned memory without a
stop, and looked at when the copy is complete."""
import torch

START = {"mean": 0.0, "sum": 0.0, "min": float("inf"), "max": float("-inf")}
BUFFERS = 4  # copies on their way at once, at most


class DeviceSums:
    """Of one microbatch: [values, counts] of all metrics."""

    def __init__(self, kinds, device):
        self.kinds, self.device, self.is_used = kinds, device, False
        self.values = self.start = None
        self.spare = []

    def add(self, i, value, count):
        if not self.is_used:
            self._begin(value if isinstance(value, torch.Tensor) and not value.is_cpu else count)
        value = torch.as_tensor(value, device=self.values.device).detach().to(torch.float64).reshape(())
        if self.kinds[i] == "mean" or self.kinds[i] == "sum":
            self.values[i] += value
        else:
            value = torch.where(torch.as_tensor(count, device=value.device) > 0, value, self.start[i])
            merge = torch.minimum if self.kinds[i] == "min" else torch.maximum
            self.values[i] = merge(self.values[i], value)
        self.values[len(self.kinds) + i] += count

    def _begin(self, example):
        self.is_used = True
        if self.values is None:
            start = [START[kind] for kind in self.kinds] + [0.0] * len(self.kinds)
            self.start = torch.tensor(start, dtype=torch.float64, device=self.device or example.device)
            self.values = self.start.clone()

    def fetch(self):
        """What was added since the last time, on its way to the host; None: nothing was."""
        if not self.is_used:
            return None
        self.is_used = False
        is_cuda = self.values.is_cuda
        host = self.spare.pop() if self.spare else torch.empty(len(self.start), dtype=torch.float64, pin_memory=is_cuda)
        host.copy_(self.values, non_blocking=True)
        event = None
        if is_cuda:
            event = torch.cuda.Event()
            event.record()
        self.values.copy_(self.start)
        return Fetched(self, host, event)


class Fetched:
    """A copy on its way."""

    def __init__(self, sums, host, event):
        self.sums, self.host, self.event = sums, host, event

    def is_here(self):
        return self.event is None or self.event.query()

    def merge(self, samples):
        """Those of the host, with these added. Waits for the copy."""
        if self.event is not None:
            self.event.synchronize()
        both, got, kinds = [], self.host.tolist(), self.sums.kinds
        for i, (total, count) in enumerate(samples):
            value, more = got[i], got[len(kinds) + i]
            if kinds[i] == "min" or kinds[i] == "max":
                held = [one for one, n in ((total, count), (value, more)) if n > 0]
                extreme = min if kinds[i] == "min" else max
                nan = [one for one in held if one != one]
                both.append((nan[0] if nan else extreme(held) if held else 0.0, count + more))
            else:
                both.append((total + value, count + more))
        if len(self.sums.spare) < BUFFERS:
            self.sums.spare.append(self.host)
        return both
