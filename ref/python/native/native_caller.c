/* Which line of the program made a call: alar.torch.caller, with what it found kept by the place in
 * the code. */
#include "python/native/native.h"

enum {
    SITES = 512
};

/* A place in the program's code, and what it is called in the history. */
struct site {
    PyObject *code; /* owned, so that the address stays its own; NULL: nothing is kept here */
    long long instruction;
    PyObject *where; /* (file, line), owned */
};

static struct site sites[SITES];

/* Is the code that runs in the frame the program's? -1: an exception. */
static int is_program(PyObject *frame)
{
    PyObject *globals = PyObject_GetAttr(frame, native_names[NAME_f_globals]);
    PyObject *name, *known = NULL, *answer;
    int is_true;

    if (globals == NULL) {
        return -1;
    }
    name = PyDict_GetItemWithError(globals, native_names[NAME___name__]);
    if (name != NULL && PyUnicode_CheckExact(name)) {
        known = PyDict_GetItemWithError(native_objects[NATIVE_is_program], name);
    }
    if (known != NULL) {
        Py_DECREF(globals);
        return known == Py_True;
    }
    answer = PyErr_Occurred() != NULL
                 ? NULL
                 : PyObject_CallFunctionObjArgs(native_objects[NATIVE_decide],
                                                name != NULL ? name : Py_None, NULL);
    Py_DECREF(globals);
    is_true = answer != NULL ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return is_true;
}

static PyObject *where_of(PyObject *frame, PyObject *code)
{
    PyObject *file = PyObject_GetAttr(code, native_names[NAME_co_filename]);

    return file != NULL ? Py_BuildValue("Ni", file, PyFrame_GetLineNumber((PyFrameObject *)frame))
                        : NULL;
}

/* (file, line) of the frame. */
static PyObject *site_of(PyObject *frame)
{
    PyObject *number = PyObject_GetAttr(frame, native_names[NAME_f_lasti]);
    long long instruction = number != NULL ? PyLong_AsLongLong(number) : -1;
    PyObject *code, *where;
    struct site *site;

    Py_XDECREF(number);
    if (PyErr_Occurred() != NULL) {
        return NULL;
    }
    code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    site = &sites[(((uintptr_t)code >> 5) ^ (uintptr_t)instruction) % SITES];
    if (site->code != code || site->instruction != instruction) {
        PyObject *code_before = site->code, *where_before = site->where;

        where = where_of(frame, code);
        if (where == NULL) {
            Py_DECREF(code);
            return NULL;
        }
        Py_INCREF(code);
        *site = (struct site){code, instruction, where};
        Py_XDECREF(code_before);
        Py_XDECREF(where_before);
    }
    Py_DECREF(code);
    Py_INCREF(site->where);
    return site->where;
}

PyObject *native_caller(PyObject *frame)
{
    PyObject *where = NULL;
    int is_found = 0;

    Py_INCREF(frame);
    while (is_found == 0) {
        is_found = is_program(frame);
        if (is_found == 0) {
            PyObject *above = PyObject_GetAttr(frame, native_names[NAME_f_back]);

            if (above == NULL || above == Py_None) {
                is_found = above == NULL ? -1 : 1;
                Py_XDECREF(above);
            } else {
                Py_DECREF(frame);
                frame = above;
            }
        }
    }
    if (is_found == 1) {
        where = site_of(frame);
    }
    Py_DECREF(frame);
    return where;
}
