/* What a thread says of its collectives: _Current of alar.torch.labels, read without a look into a
 * dictionary. */
#include "python/native/native.h"

struct label {
    PyObject *fields;   /* of the record: a text; NULL: none */
    PyObject *elements; /* how many are kept; NULL: as many as ever */
};

static _Thread_local struct label of_thread;

PyObject *native_label_fields(void)
{
    if (of_thread.fields == NULL) {
        return PyUnicode_FromStringAndSize("", 0);
    }
    Py_INCREF(of_thread.fields);
    return of_thread.fields;
}

static PyObject *elements_or_default(void)
{
    return of_thread.elements != NULL ? of_thread.elements : native_objects[NATIVE_ELEMENTS];
}

long long native_label_elements(void)
{
    return PyLong_AsLongLong(elements_or_default());
}

/* ---- to Python ---- */

static PyObject *fields(PyObject *self, void *unused)
{
    (void)self;
    (void)unused;
    return native_label_fields();
}

static PyObject *elements(PyObject *self, void *unused)
{
    PyObject *count = elements_or_default();

    (void)self;
    (void)unused;
    Py_INCREF(count);
    return count;
}

static int set(PyObject **field, PyObject *value)
{
    PyObject *before = *field;

    Py_XINCREF(value);
    *field = value;
    Py_XDECREF(before);
    return 0;
}

static int fields_set(PyObject *self, PyObject *value, void *unused)
{
    (void)self;
    (void)unused;
    return set(&of_thread.fields, value);
}

static int elements_set(PyObject *self, PyObject *value, void *unused)
{
    (void)self;
    (void)unused;
    return set(&of_thread.elements, value);
}

static PyGetSetDef computed[] = {
    {"fields", fields, fields_set, "What the record of an operation says besides: text.", NULL},
    {"elements", elements, elements_set, "How many elements of a tensor are kept.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_getset, computed},
    {0, NULL},
};

PyType_Spec native_label_spec = {
    .name = "_alar_torch.Current",
    .basicsize = sizeof(PyObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
