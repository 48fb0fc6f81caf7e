/* The module _alar_torch: what it offers to alar.torch, and what it was lent. */
#include "python/native/native.h"

PyObject *native_objects[NATIVE_OBJECTS];
PyObject *native_names[NATIVE_NAMES];
PyTypeObject *native_operation_type;
struct native_recording native_recording;

static const char *const object_names[] = {
#define NATIVE_OBJECT(name) #name,
#define NATIVE_NAME(name)
#include "python/native/native_objects.def"
#undef NATIVE_OBJECT
#undef NATIVE_NAME
};

static const char *const attribute_names[] = {
#define NATIVE_OBJECT(name)
#define NATIVE_NAME(name) #name,
#include "python/native/native_objects.def"
#undef NATIVE_OBJECT
#undef NATIVE_NAME
};

void native_tell(enum native_object which, PyObject *first, PyObject *second)
{
    PyObject *answer = PyObject_CallFunctionObjArgs(native_objects[which], first, second, NULL);

    if (answer == NULL) {
        PyErr_Clear(); /* the program goes on */
    }
    Py_XDECREF(answer);
}

void native_tell_error(enum native_object which, PyObject *first, bool is_kept)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (first != NULL) {
        native_tell(which, first, value);
    } else {
        native_tell(which, value, NULL);
    }
    if (is_kept) {
        PyErr_Restore(type, value, trace);
        return;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/* setup(lender): takes what native_objects.def lists from the attributes of one object. */
static PyObject *setup(PyObject *module, PyObject *lender)
{
    (void)module;
    for (int i = 0; i < NATIVE_OBJECTS; i++) {
        PyObject *before = native_objects[i];
        PyObject *lent = PyObject_GetAttrString(lender, object_names[i]);

        if (lent == NULL) {
            return NULL;
        }
        native_objects[i] = lent;
        Py_XDECREF(before);
    }
    Py_RETURN_NONE;
}

static PyObject *stop(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    native_recording.is_on = false;
    Py_CLEAR(native_recording.queue);
    Py_CLEAR(native_recording.groups);
    Py_RETURN_NONE;
}

static PyObject *start(PyObject *module, PyObject *arguments)
{
    PyObject *type, *queue, *groups;
    int has_values, is_queue;
    long long last;

    if (!PyArg_ParseTuple(arguments, "OO!pL", &queue, &PyDict_Type, &groups, &has_values, &last)) {
        return NULL;
    }
    type = PyObject_GetAttrString(module, "Queue");
    is_queue = type != NULL ? PyObject_IsInstance(queue, type) : -1;
    Py_XDECREF(type);
    if (is_queue <= 0) {
        return is_queue < 0 ? NULL : PyErr_Format(PyExc_TypeError, "expected a Queue");
    }
    Py_XDECREF(stop(module, NULL));
    Py_INCREF(queue);
    Py_INCREF(groups);
    native_recording = (struct native_recording){
        native_recording.life + 1, true, has_values != 0, last, queue, groups};
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"setup", setup, METH_O, "Takes what alar.torch lends, from the attributes of an object."},
    {"start", start, METH_VARARGS, "start(queue, groups, values, last)"},
    {"stop", stop, METH_NOARGS, "Every call takes the way in Python from now on."},
    {"method", native_method_new, METH_VARARGS, "method(name, original, careful)"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_alar_torch",
    .m_doc = "The hot part of alar.torch. Not for use by others.",
    .m_size = -1,
    .m_methods = methods,
};

static int add_type(PyObject *module, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);

    if (type == NULL || PyModule_AddObjectRef(module, name, type) < 0) {
        Py_XDECREF(type);
        return -1;
    }
    if (spec == &native_operation_spec) {
        native_operation_type = (PyTypeObject *)type; /* keeps the reference */
    } else {
        Py_DECREF(type);
    }
    return 0;
}

PyMODINIT_FUNC PyInit__alar_torch(void)
{
    PyObject *module = PyModule_Create(&definition);

    for (int i = 0; i < NATIVE_NAMES && module != NULL; i++) {
        native_names[i] = PyUnicode_InternFromString(attribute_names[i]);
        if (native_names[i] == NULL) {
            Py_CLEAR(module);
        }
    }
    if (module != NULL && (add_type(module, "Queue", &native_queue_spec) < 0 ||
                           add_type(module, "Inside", &native_inside_spec) < 0 ||
                           add_type(module, "Current", &native_label_spec) < 0 ||
                           add_type(module, "Held", &native_held_spec) < 0 ||
                           add_type(module, "Method", &native_method_spec) < 0 ||
                           add_type(module, "Operation", &native_operation_spec) < 0)) {
        Py_CLEAR(module);
    }
    return module;
}
