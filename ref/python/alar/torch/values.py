"""Elements of tensors as bits: what is copied at the call, and how it is written later."""
import ctypes

import torch
import torch.distributed as dist

ELEMENTS = 16     # of one tensor that are kept: the first ones
ROW_ELEMENTS = 1024  # of what was gathered from all ranks

DTYPES = {getattr(torch, name): word for name, word in (
    ("float32", "f32"), ("float64", "f64"), ("float16", "f16"), ("bfloat16", "bf16"), ("int8", "i8"),
    ("int16", "i16"), ("int32", "i32"), ("int64", "i64"), ("uint8", "u8"), ("uint16", "u16"),
    ("uint32", "u32"), ("uint64", "u64")) if hasattr(torch, name)}
BYTES = {word: 2 if word == "bf16" else int(word[1:]) // 8 for word in DTYPES.values()}
LAYOUTS = {dtype: (word, BYTES[word]) for dtype, word in DTYPES.items()}
# Adding this changes no bit of anything: -0 for floats, 0 for integers.
NOTHING = {word: '"%s%s"' % ("8" if "f" in word else "0", "0" * (2 * size - 1))
           for word, size in BYTES.items()}
REDUCTIONS = [(getattr(dist.ReduceOp, name), word) for name, word in (
    ("SUM", "sum"), ("AVG", "avg"), ("MAX", "max"), ("MIN", "min"), ("PRODUCT", "product"),
    ("BAND", "band"), ("BOR", "bor"), ("BXOR", "bxor")) if hasattr(dist.ReduceOp, name)]

# The bytes at an address, as one object.
bytes_at = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t)(
    ("PyBytes_FromStringAndSize", ctypes.pythonapi))


def reduction_word(reduction):
    """"sum" for ReduceOp.SUM or "sum"; None for one that the format has no word for."""
    if isinstance(reduction, str):
        return reduction.lower() if reduction.lower() in (word for _, word in REDUCTIONS) else None
    return next((word for known, word in REDUCTIONS if reduction == known), None)


def copy(tensor, limit=ELEMENTS):
    """At most `limit` elements, as they are now: bytes, or a tensor where the memory is a device's.
    Four times as fast as a clone of a small tensor. The tensor must be torch's own class."""
    if tensor.is_contiguous() and tensor.is_cpu:
        count = tensor.numel()
        return bytes_at(tensor.data_ptr(),
                        (count if count < limit else limit) * tensor.element_size())
    tensor = tensor.detach()
    return (tensor.reshape(-1)[:limit] if tensor.numel() > limit else tensor).clone()


def copy_all(tensors, limit):
    """The first elements of several tensors, one after the other."""
    out = []
    for tensor in tensors:
        if limit <= 0:
            break
        out.append(copy(tensor, limit))
        limit -= tensor.numel()
    return out


def raw(copied):
    """The bytes of what `copy` or `copy_all` returned; a device is waited for here."""
    if isinstance(copied, list):
        return b"".join(raw(one) for one in copied)
    if isinstance(copied, torch.Tensor):
        return copy(copied.detach().cpu().contiguous(), copied.numel())
    return copied


def words(data, dtype):
    """Each value's bits as a JSON text, most significant digit first."""
    size = BYTES[dtype]
    return ['"%s"' % data[at:at + size][::-1].hex() for at in range(0, len(data) - size + 1, size)]


def text(copied, dtype):
    """A JSON list of what was copied."""
    return "[%s]" % ",".join(words(raw(copied), dtype))


def row(copied, dtype, before, kept):
    """A JSON list of `kept` elements: what was copied behind `before` elements of nothing."""
    own = words(raw(copied), dtype) if copied is not None else []
    made = [NOTHING[dtype]] * min(before, kept) + own
    return "[%s]" % ",".join((made + [NOTHING[dtype]] * (kept - len(made)))[:kept])


def version(tensor):
    """Counts the program's writes in place; inference tensors have no counter."""
    try:
        return tensor._version
    except RuntimeError:
        return 0
