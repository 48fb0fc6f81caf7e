/* An object that stands in a class for a method of torch: a function to Python, a call of C to the
 * machine. */
#include "python/native/native.h"

#include <stddef.h>
#include <string.h>

struct method {
    PyObject ob_base;
    PyObject *original, *careful; /* torch's, and the one in Python that takes every call */
    PyObject *attributes;         /* __name__, __doc__ and the like; NULL while there are none */
    PyObject *(*call)(PyObject *original, PyObject *careful, PyObject *arguments, PyObject *named);
};

static PyTypeObject *method_type;

PyObject *native_method_new(PyObject *module, PyObject *arguments)
{
    const char *name;
    PyObject *original, *careful;
    struct method *method;

    if (!PyArg_ParseTuple(arguments, "sOO", &name, &original, &careful)) {
        return NULL;
    }
    Py_INCREF(careful);
    if (strcmp(name, "allreduce") != 0 && strcmp(name, "wait") != 0) {
        return careful;
    }
    if (method_type == NULL) {
        method_type = (PyTypeObject *)PyObject_GetAttrString(module, "Method");
    }
    method = method_type != NULL ? PyObject_New(struct method, method_type) : NULL;
    if (method == NULL) {
        Py_DECREF(careful);
        return NULL;
    }
    Py_INCREF(original);
    method->original = original;
    method->careful = careful;
    method->attributes = NULL;
    method->call = strcmp(name, "wait") == 0 ? native_wait : native_all_reduce;
    return (PyObject *)method;
}

static PyObject *method_call(PyObject *self, PyObject *arguments, PyObject *named)
{
    struct method *method = (struct method *)self;

    return method->call(method->original, method->careful, arguments, named);
}

/* group.allreduce, where it is not called at once. */
static PyObject *method_bind(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    if (object == NULL || object == Py_None) {
        Py_INCREF(self);
        return self;
    }
    return PyObject_CallFunctionObjArgs(native_objects[NATIVE_MethodType], self, object, NULL);
}

static void method_dealloc(PyObject *self)
{
    struct method *method = (struct method *)self;
    PyTypeObject *type = Py_TYPE(self);

    Py_CLEAR(method->original);
    Py_CLEAR(method->careful);
    Py_CLEAR(method->attributes);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(struct method, attributes), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    NATIVE_SLOT(Py_tp_dealloc, method_dealloc),
    NATIVE_SLOT(Py_tp_call, method_call),
    NATIVE_SLOT(Py_tp_descr_get, method_bind),
    {Py_tp_members, members},
    {0, NULL},
};

PyType_Spec native_method_spec = {
    .name = "_alar_torch.Method",
    .basicsize = sizeof(struct method),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
