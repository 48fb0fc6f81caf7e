/* What a thread is in: _Inside of alar.torch.capture, read without a look into a dictionary. */
#include "python/native/native.h"

static unsigned long newest; /* the Inside that counts */
static _Thread_local struct native_inside of_thread;

void native_inside_block(struct native_inside *inside, PyObject *work, PyObject *made)
{
    PyObject *work_before = inside->work, *made_before = inside->made;

    Py_XINCREF(work);
    Py_XINCREF(made);
    inside->work = work;
    inside->made = made;
    Py_XDECREF(work_before);
    Py_XDECREF(made_before);
}

struct native_inside *native_inside(void)
{
    if (of_thread.life != newest) {
        of_thread.life = newest;
        of_thread.is_set = 0;
        native_inside_block(&of_thread, NULL, NULL);
    }
    return &of_thread;
}

/* ---- to Python ---- */

/* A new one: what threads were in counts no more. */
static PyObject *inside_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    PyObject *made = PyType_GenericAlloc(type, 0);

    (void)arguments;
    (void)named;
    newest++;
    return made;
}

static PyObject *is_set(PyObject *self, void *unused)
{
    (void)self;
    (void)unused;
    return PyBool_FromLong(native_inside()->is_set);
}

static int is_set_set(PyObject *self, PyObject *value, void *unused)
{
    (void)self;
    (void)unused;
    native_inside()->is_set = value == Py_True;
    return 0;
}

static PyObject *blocking(PyObject *self, void *unused)
{
    struct native_inside *inside = native_inside();
    PyObject *made;

    (void)self;
    (void)unused;
    if (inside->work == NULL) {
        Py_RETURN_NONE;
    }
    if (!native_is_operation(inside->made)) {
        return PyTuple_Pack(2, inside->work, inside->made);
    }
    made = PyTuple_Pack(1, inside->made);
    return made != NULL ? Py_BuildValue("ON", inside->work, made) : NULL;
}

/* None, or (work, operations). */
static int blocking_set(PyObject *self, PyObject *value, void *unused)
{
    PyObject *work = NULL, *made = NULL;

    (void)self;
    (void)unused;
    if (value != NULL && value != Py_None && !PyArg_ParseTuple(value, "OO", &work, &made)) {
        return -1;
    }
    native_inside_block(native_inside(), work, made);
    return 0;
}

static PyGetSetDef computed[] = {
    {"is_set", is_set, is_set_set, "Is this thread in a method already?", NULL},
    {"blocking", blocking, blocking_set, "The last blocking call until its wait, or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    NATIVE_SLOT(Py_tp_new, inside_new),
    {Py_tp_getset, computed},
    {0, NULL},
};

PyType_Spec native_inside_spec = {
    .name = "_alar_torch.Inside",
    .basicsize = sizeof(PyObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
