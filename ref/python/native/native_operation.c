/* An all-reduce in place of one plain tensor; to Python, what alar.torch.operation.Operation is. */
#include "python/native/native.h"

#include <stddef.h>
#include <string.h>

bool native_is_operation(PyObject *object)
{
    return object != NULL && Py_TYPE(object) == native_operation_type;
}

long long native_version(PyObject *tensor)
{
    PyObject *number = PyObject_GetAttr(tensor, native_names[NAME__version]);
    long long version = number != NULL ? PyLong_AsLongLong(number) : -1;

    Py_XDECREF(number);
    if (version < 0) {
        PyErr_Clear(); /* an inference tensor has no counter */
        return 0;
    }
    return version;
}

/* What a method of the tensor that takes nothing says; -1: an exception. */
static long long asked(enum native_object method, PyObject *tensor)
{
    PyObject *number = PyObject_CallFunctionObjArgs(native_objects[method], tensor, NULL);
    long long value = number != NULL ? PyLong_AsLongLong(number) : -1;

    Py_XDECREF(number);
    return value;
}

static bool address_of(PyObject *tensor, unsigned long long *address)
{
    PyObject *number = PyObject_CallFunctionObjArgs(native_objects[NATIVE_data_ptr], tensor, NULL);

    *address = number != NULL ? PyLong_AsUnsignedLongLong(number) : 0;
    Py_XDECREF(number);
    return PyErr_Occurred() == NULL;
}

/* Can its elements be read at its address, one after the other? */
static bool is_flat(PyObject *tensor)
{
    PyObject *is_cpu = PyObject_GetAttr(tensor, native_names[NAME_is_cpu]);
    PyObject *is_contiguous =
        is_cpu == Py_True
            ? PyObject_CallFunctionObjArgs(native_objects[NATIVE_is_contiguous], tensor, NULL)
            : NULL;
    bool is_true = is_contiguous == Py_True;

    Py_XDECREF(is_cpu);
    Py_XDECREF(is_contiguous);
    return is_true;
}

static bool measure(struct native_operation *op, bool has_values)
{
    PyObject *dtype = PyObject_GetAttr(op->tensor, native_names[NAME_dtype]);
    PyObject *layout = dtype != NULL
                           ? PyDict_GetItemWithError(native_objects[NATIVE_LAYOUTS], dtype)
                           : NULL; /* borrowed: (word, bytes) */

    Py_XDECREF(dtype);
    if (layout == NULL) {
        return false;
    }
    op->dtype = PyTuple_GetItem(layout, 0);
    Py_XINCREF(op->dtype);
    op->element_bytes = (int)PyLong_AsLong(PyTuple_GetItem(layout, 1));
    op->element_count = asked(NATIVE_numel, op->tensor);
    op->kept_count = native_label_elements();
    if (op->kept_count > op->element_count) {
        op->kept_count = op->element_count;
    }
    return op->element_count >= 0 && op->kept_count >= 0 && address_of(op->tensor, &op->address) &&
           (!has_values || is_flat(op->tensor));
}

struct native_operation *native_operation_new(PyObject *tensor, PyObject *options, bool has_values)
{
    struct native_operation *op = PyObject_GC_New(struct native_operation, native_operation_type);

    if (op == NULL) {
        return NULL;
    }
    memset((char *)op + sizeof(PyObject), 0, sizeof(*op) - sizeof(PyObject));
    Py_INCREF(tensor);
    Py_INCREF(options);
    op->tensor = tensor;
    op->options = options;
    op->is_pending = 1;
    if (!measure(op, has_values)) {
        Py_DECREF(op);
        return NULL;
    }
    return op;
}

PyObject *native_operation_bytes(struct native_operation *op)
{
    return PyBytes_FromStringAndSize((const char *)(uintptr_t)op->address, /* where torch said */
                                     (Py_ssize_t)(op->kept_count * op->element_bytes));
}

/* ---- to Python ---- */

static PyObject *tensors(PyObject *self, void *unused)
{
    struct native_operation *op = (struct native_operation *)self;

    (void)unused;
    return op->tensor != NULL ? PyTuple_Pack(1, op->tensor) : PyTuple_New(0);
}

/* Python only lets go of them: () */
static int tensors_set(PyObject *self, PyObject *value, void *unused)
{
    (void)value;
    (void)unused;
    Py_CLEAR(((struct native_operation *)self)->tensor);
    return 0;
}

/* As those of a handle's other kinds: the operations of the call. */
static PyObject *operations(PyObject *self, void *unused)
{
    (void)unused;
    return PyTuple_Pack(1, self);
}

static PyObject *reduction(PyObject *self, void *unused)
{
    (void)unused;
    return PyObject_GetAttr(((struct native_operation *)self)->options,
                            native_names[NAME_reduceOp]);
}

static PyObject *version(PyObject *self, PyObject *unused)
{
    struct native_operation *op = (struct native_operation *)self;

    (void)unused;
    if (op->tensor == NULL) {
        Py_RETURN_NONE;
    }
    return PyLong_FromLongLong(native_version(op->tensor));
}

static int operation_clear(PyObject *self)
{
    struct native_operation *op = (struct native_operation *)self;

    Py_CLEAR(op->tensor);
    Py_CLEAR(op->options);
    Py_CLEAR(op->handle);
    Py_CLEAR(op->written);
    Py_CLEAR(op->views);
    return 0;
}

static int operation_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct native_operation *op = (struct native_operation *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(op->tensor);
    Py_VISIT(op->options);
    Py_VISIT(op->handle);
    Py_VISIT(op->written);
    Py_VISIT(op->views);
    return 0;
}

static void operation_dealloc(PyObject *self)
{
    struct native_operation *op = (struct native_operation *)self;
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    operation_clear(self);
    Py_CLEAR(op->group);
    Py_CLEAR(op->dtype);
    Py_CLEAR(op->key);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

#define MEMBER(name, type, field, flags)                                  \
    {                                                                     \
        name, type, offsetof(struct native_operation, field), flags, NULL \
    }
static PyMemberDef members[] = {
    MEMBER("group", T_OBJECT, group, READONLY),
    MEMBER("dtype", T_OBJECT, dtype, READONLY),
    MEMBER("number", T_LONGLONG, number, 0),
    MEMBER("segment", T_LONGLONG, segment, 0),
    MEMBER("n", T_LONGLONG, element_count, READONLY),
    MEMBER("kept", T_LONGLONG, kept_count, READONLY),
    MEMBER("size", T_INT, element_bytes, READONLY),
    MEMBER("address", T_ULONGLONG, address, READONLY),
    MEMBER("written", T_OBJECT, written, 0),
    MEMBER("views", T_OBJECT, views, 0),
    MEMBER("is_sync", T_BOOL, is_sync, READONLY),
    MEMBER("is_pending", T_BOOL, is_pending, 0),
    MEMBER("is_over", T_BOOL, is_over, 0),
    MEMBER("is_quiet", T_BOOL, is_quiet, 0),
    MEMBER("has_polled", T_BOOL, has_polled, 0),
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef computed[] = {
    {"sources", tensors, tensors_set, "The tensor, while it is pending.", NULL},
    {"targets", tensors, tensors_set, "The same.", NULL},
    {"operations", operations, NULL, "Itself, for a handle.", NULL},
    {"red", reduction, NULL, "torch's ReduceOp.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"version", version, METH_NOARGS, "The counter of the program's writes, or None."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    NATIVE_SLOT(Py_tp_dealloc, operation_dealloc),
    NATIVE_SLOT(Py_tp_traverse, operation_traverse),
    NATIVE_SLOT(Py_tp_clear, operation_clear),
    NATIVE_SLOT(Py_tp_call, native_gone),
    {Py_tp_members, members},
    {Py_tp_getset, computed},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec native_operation_spec = {
    .name = "_alar_torch.Operation",
    .basicsize = sizeof(struct native_operation),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
