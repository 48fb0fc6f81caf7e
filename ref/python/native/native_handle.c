/* Whose handle is whose operation: alar.torch.capture's table, of operations that weakly know
 * torch's handles. */
#include "python/native/native.h"

int native_attach(PyObject *work, struct native_operation *op)
{
    op->key = PyLong_FromVoidPtr(work);
    op->handle = op->key != NULL ? PyWeakref_NewRef(work, (PyObject *)op) : NULL;
    return op->handle != NULL
               ? PyDict_SetItem(native_objects[NATIVE_handles], op->key, (PyObject *)op)
               : -1;
}

struct native_operation *native_attached(PyObject *work, bool *is_known)
{
    PyObject *key = PyLong_FromVoidPtr(work);
    PyObject *handle =
        key != NULL ? PyDict_GetItemWithError(native_objects[NATIVE_handles], key) : NULL;

    *is_known = handle != NULL;
    Py_XDECREF(key);
    if (!native_is_operation(handle)) {
        return NULL;
    }
    Py_INCREF(handle);
    return (struct native_operation *)handle;
}

PyObject *native_gone(PyObject *self, PyObject *arguments, PyObject *named)
{
    struct native_operation *op = (struct native_operation *)self;
    PyObject *held =
        op->key != NULL ? PyDict_GetItemWithError(native_objects[NATIVE_handles], op->key) : NULL;

    (void)arguments;
    (void)named;
    Py_INCREF(self);
    if (held == self && PyDict_DelItem(native_objects[NATIVE_handles], op->key) < 0) {
        PyErr_Clear();
    }
    Py_CLEAR(op->handle);
    if (held == self && !op->is_over) {
        native_tell(NATIVE_dropped, self, NULL);
    }
    Py_DECREF(self);
    Py_RETURN_NONE;
}
