/* `with held:` around what Python does that numbers operations; it has its own lock besides. */
#include "python/native/native.h"

int native_held;

static PyObject *enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    native_held++;
    Py_INCREF(self);
    return self;
}

static PyObject *leave(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    native_held--;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, "Nothing is numbered here until __exit__."},
    {"__exit__", leave, METH_VARARGS, "Operations are numbered here again."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec native_held_spec = {
    .name = "_alar_torch.Held",
    .basicsize = sizeof(PyObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
