/* The hot part of the recorder for torch, compiled: what nearly every all-reduce goes through.
 *
 * The module _alar_torch serves one case of alar/torch/capture.py: torch.distributed's own
 * all_reduce of one plain tensor, and the wait for it. A call of any other kind, and one with
 * whatever goes wrong before it is recorded, takes the way in Python, so that what is recorded is
 * the same with the module and without it. All of it runs under Python's lock. Needs CPython 3.10
 * or later: the stable interface, so that one build serves all.
 */
#ifndef ALAR_PYTHON_NATIVE_H
#define ALAR_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <structmember.h>

#include <stdbool.h>
#include <stdint.h>

/* A slot of a type: the interface hands functions over as pointers to objects. */
#define NATIVE_SLOT(id, function)             \
    {                                         \
        (id), __extension__(void *)(function) \
    }
#define NATIVE_CALL(function) __extension__(PyCFunction)(void (*)(void))(function)

/* ---- what Python lends ---- */

/* Objects of alar.torch that are used here, and names of attributes; native_objects.def lists them.
 */
enum native_object {
#define NATIVE_OBJECT(name) NATIVE_##name,
#define NATIVE_NAME(name)
#include "python/native/native_objects.def"
#undef NATIVE_OBJECT
#undef NATIVE_NAME
    NATIVE_OBJECTS
};
enum native_name {
#define NATIVE_OBJECT(name)
#define NATIVE_NAME(name) NAME_##name,
#include "python/native/native_objects.def"
#undef NATIVE_OBJECT
#undef NATIVE_NAME
    NATIVE_NAMES
};
extern PyObject *native_objects[NATIVE_OBJECTS]; /* owned; NULL before setup() */
extern PyObject *native_names[NATIVE_NAMES];     /* owned texts */

/* ---- one operation ---- */

/* As alar.torch.operation.Operation, for an all-reduce in place of one tensor. */
struct native_operation {
    PyObject ob_base;
    PyObject *tensor;  /* held while it is pending; NULL afterwards */
    PyObject *options; /* torch's, made for this call: asked for the reduction when it is written */
    PyObject *group;   /* its name */
    PyObject *dtype;   /* a word of the format */
    PyObject *handle;  /* weak reference to torch's, with the operation as its callback; or NULL */
    PyObject *key;     /* the handle's in the table of handles, or NULL */
    PyObject *written; /* counter of writes when it ended, or NULL: alar.torch.pending's */
    PyObject *views;   /* weak references to what is watched with it, or NULL: the same */
    long long number,
        segment;             /* its place in the group, and the part of the history it stands in */
    long long element_count; /* of the tensor */
    long long kept_count;    /* of these: the first ones */
    int element_bytes;       /* 1 to 8 */
    unsigned long long address; /* of the first element at the call */
    char is_sync;               /* waited for by torch itself */
    char is_pending;            /* as far as the program knows */
    char is_over;               /* waited for, or failed */
    char is_quiet;              /* somebody has its future */
    char has_polled;            /* was found unfinished before */
};
extern PyTypeObject *native_operation_type;
extern PyType_Spec native_operation_spec;

/* The operation's own call: its handle is gone. */
PyObject *native_gone(PyObject *self, PyObject *arguments, PyObject *named);

/* A new operation on that tensor, measured: dtype, size, address. NULL, with or without an
 * exception, where it is not one of those that are served here. */
struct native_operation *native_operation_new(PyObject *tensor, PyObject *options, bool has_values);

/* The kept elements as they are now, as bytes. Errors: NULL with an exception. */
PyObject *native_operation_bytes(struct native_operation *op);

/* The counter of the program's writes into the tensor; 0 where it has none. */
long long native_version(PyObject *tensor);

bool native_is_operation(PyObject *object);

/* ---- the queue of records ---- */

enum native_event {
    NATIVE_WHOLE, /* a tuple made in Python */
    NATIVE_ISSUE,
    NATIVE_WAIT,
    NATIVE_DONE,
    NATIVE_AGAIN /* a wait for what was over already */
};

/* One record; references are owned. */
struct native_record {
    enum native_event event;
    int64_t time;      /* nanoseconds of the monotonic clock */
    long long version; /* counter of writes; -1: unknown */
    PyObject *subject; /* the operation, or the tuple */
    PyObject *copied;  /* bytes; NULL: no values are kept */
    PyObject *fields;  /* of the label, of an issue */
    PyObject *where;   /* (file, line), or NULL */
};
extern PyType_Spec native_queue_spec;

/* Lets go of the references. */
void native_record_clear(struct native_record *record);

/* Takes the record's references, also on failure. Errors: -1 with an exception, out of memory. */
int native_queue_push(PyObject *queue, struct native_record record);

int64_t native_now(void);

/* ---- where a call came from ---- */

/* (file, line) of the first frame from that one upwards that is the program's. Errors: NULL with an
 * exception. */
PyObject *native_caller(PyObject *frame);

/* ---- methods of torch, in whose place ours stand ---- */

extern PyType_Spec native_method_spec;

/* method(name, original, careful): the one to put in the place of torch's `original`; `careful`,
 * which takes every call, where calls of that name are not served here. */
PyObject *native_method_new(PyObject *module, PyObject *arguments);

/* all_reduce and wait themselves; arguments as tp_call has them, the group or the handle first. */
PyObject *native_all_reduce(PyObject *original, PyObject *careful, PyObject *arguments,
                            PyObject *named);
PyObject *native_wait(PyObject *original, PyObject *careful, PyObject *arguments, PyObject *named);

/* Keeps the operation of a handle until that is gone. Errors: -1 with an exception. */
int native_attach(PyObject *work, struct native_operation *op);

/* The one operation of a handle, owned; NULL where there is none, or another kind. is_known: has it
 * any? */
struct native_operation *native_attached(PyObject *work, bool *is_known);

/* What a thread is in: _Inside of alar.torch.capture. */
struct native_inside {
    unsigned long life; /* of which Inside; another one's state counts as none */
    char is_set;        /* in a method already: what that calls is not another operation */
    PyObject *work;     /* the last blocking call until its wait, or NULL; owned */
    PyObject *made;     /* its operation, or Python's list of them; owned */
};
extern PyType_Spec native_inside_spec;
struct native_inside *native_inside(void);
void native_inside_block(struct native_inside *inside, PyObject *work, PyObject *made);

/* What this thread says of its collectives: `_Current` of alar.torch.labels. */
PyObject *native_label_fields(void);   /* a new reference */
long long native_label_elements(void); /* of a tensor that are kept; -1: an exception */
extern PyType_Spec native_label_spec;

/* With it Python keeps the calls out that would number operations meanwhile: they go its way, and
 * wait there. */
extern PyType_Spec native_held_spec;
extern int native_held;

/* The recording that runs; off where every call takes the way in Python. */
struct native_recording {
    unsigned long life; /* another one for each start */
    bool is_on, has_values;
    long long last;           /* operations of a segment; 0: no segments */
    PyObject *queue, *groups; /* owned while it is on */
};
extern struct native_recording native_recording;

/* Calls what setup() was given; what it raises is dropped. */
void native_tell(enum native_object which, PyObject *first, PyObject *second);

/* The exception that is set, told and kept (`is_kept`) or dropped. */
void native_tell_error(enum native_object which, PyObject *first, bool is_kept);

#endif
