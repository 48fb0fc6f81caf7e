/* What happens at an all-reduce of torch.distributed, and at the wait for it: the same as in
 * alar.torch.capture. */
#include "python/native/native.h"

/* A call that is served here; all borrowed. */
struct call {
    PyObject *group, *tensor, *options;
    PyObject *frame; /* of torch's all_reduce */
    int is_sync;
};

/* ---- may it be served ---- */

/* Is it torch.distributed's function that calls? It makes the options for this call alone, and may
 * wait itself. */
static bool is_torchs(PyObject *frame)
{
    static PyObject *known; /* code of torch's that called before; owned */
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    PyObject *file = code != known ? PyObject_GetAttr(code, native_names[NAME_co_filename]) : NULL;
    bool is_same = code == known;

    if (file != NULL && PyUnicode_Compare(file, native_objects[NATIVE_C10D_FILE]) == 0) {
        PyObject *before = known;

        Py_INCREF(code);
        known = code;
        Py_XDECREF(before);
        is_same = true;
    }
    Py_XDECREF(file);
    Py_DECREF(code);
    return is_same;
}

/* Newer ones say in the options that the caller waits; else the function's own argument does. -1:
 * neither. */
static int is_asynchronous(const struct call *call)
{
    PyObject *said, *locals;
    int is_true;

    if (native_objects[NATIVE_has_async_op] == Py_True) {
        said = PyObject_GetAttr(call->options, native_names[NAME_asyncOp]);
    } else {
        locals = PyObject_GetAttr(call->frame, native_names[NAME_f_locals]);
        said = locals != NULL ? PyObject_GetItem(locals, native_names[NAME_async_op]) : NULL;
        Py_XDECREF(locals);
    }
    is_true = said != NULL ? PyObject_IsTrue(said) : -1;
    Py_XDECREF(said);
    return is_true;
}

static bool is_served(PyObject *arguments, PyObject *named, struct call *call)
{
    PyObject *tensors;
    int asynchronous;

    if (!native_recording.is_on || (named != NULL && PyDict_Size(named) > 0) ||
        PyTuple_Size(arguments) != 3 || PyDict_Size(native_objects[NATIVE_coalesced]) > 0) {
        return false;
    }
    call->group = PyTuple_GetItem(arguments, 0);
    tensors = PyTuple_GetItem(arguments, 1);
    call->options = PyTuple_GetItem(arguments, 2);
    call->frame = (PyObject *)PyEval_GetFrame();
    if (!PyList_CheckExact(tensors) || PyList_Size(tensors) != 1 || call->frame == NULL) {
        return false;
    }
    call->tensor = PyList_GetItem(tensors, 0);
    if ((PyObject *)Py_TYPE(call->tensor) != native_objects[NATIVE_Tensor] ||
        !is_torchs(call->frame)) {
        return false;
    }
    asynchronous = is_asynchronous(call);
    call->is_sync = !asynchronous;
    return asynchronous >= 0;
}

/* ---- all_reduce ---- */

/* What the history knows of the process group, owned; NULL where it has to be met first. */
static PyObject *known_group(PyObject *process_group)
{
    PyObject *key = PyLong_FromVoidPtr(process_group);
    PyObject *group = key != NULL ? PyDict_GetItemWithError(native_recording.groups, key) : NULL;
    PyObject *known = group != NULL ? PyObject_GetAttr(group, native_names[NAME_known]) : NULL;
    bool is_same =
        known != NULL && PyWeakref_Check(known) && PyWeakref_GetObject(known) == process_group;

    Py_XDECREF(key);
    Py_XDECREF(known);
    if (!is_same) {
        return NULL;
    }
    Py_INCREF(group);
    return group;
}

/* -1: an exception. */
static long long next_number(PyObject *group)
{
    PyObject *number = PyObject_GetAttr(group, native_names[NAME_issued]);
    long long next = number != NULL ? PyLong_AsLongLong(number) : -1;

    Py_XDECREF(number);
    return next;
}

static int set_number(PyObject *group, long long number)
{
    PyObject *next = PyLong_FromLongLong(number);
    int failed = next != NULL ? PyObject_SetAttr(group, native_names[NAME_issued], next) : -1;

    Py_XDECREF(next);
    return failed;
}

/* Numbers it in its group and queues its record: nothing else runs meanwhile, so that one order
 * holds for all threads. Where Python numbers just now, and where a segment ends, it does so for
 * this one too. */
static int enter(struct native_operation *op, PyObject *group, struct native_record record)
{
    long long last = native_recording.last;
    long long number = native_held > 0 ? -1 : next_number(group);

    if (number < 0 || (last > 0 && number > 0 && number % last == 0) ||
        set_number(group, number + 1) < 0) {
        native_record_clear(&record);
        return -1;
    }
    op->number = last > 0 ? number % last : number;
    op->segment = last > 0 ? number / last : 0;
    record.time = native_now();
    return native_queue_push(native_recording.queue, record);
}

/* The operation, recorded as issued; NULL, and nothing recorded, where it can't be served here. */
static struct native_operation *issue(const struct call *call)
{
    bool has_values = native_recording.has_values;
    PyObject *group = known_group(call->group);
    struct native_operation *op =
        group != NULL ? native_operation_new(call->tensor, call->options, has_values) : NULL;
    struct native_record record = {.event = NATIVE_ISSUE, .subject = (PyObject *)op};

    if (op == NULL) {
        Py_XDECREF(group);
        return NULL;
    }
    op->is_sync = (char)call->is_sync;
    record.version = native_version(call->tensor);
    record.where = native_caller(call->frame);
    record.fields = native_label_fields();
    op->group = PyObject_GetAttr(group, native_names[NAME_name]);
    record.copied = has_values ? native_operation_bytes(op) : NULL;
    Py_INCREF(op);
    if (PyErr_Occurred() != NULL) {
        native_record_clear(&record);
        Py_CLEAR(op);
    } else if (enter(op, group, record) < 0) {
        Py_CLEAR(op);
    }
    Py_DECREF(group);
    return op;
}

/* Watches the tensor, as pending.put() does. */
static int put(PyObject *tensor, struct native_operation *op)
{
    PyObject *attributes;
    int failed;

    if ((PyObject *)Py_TYPE(tensor) != native_objects[NATIVE_Tensor]) {
        return 0;
    }
    attributes = PyObject_GetAttr(tensor, native_names[NAME___dict__]);
    failed =
        attributes == NULL ||
        PyDict_SetItem(attributes, native_objects[NATIVE_KEY], (PyObject *)op) < 0 ||
        PyObject_SetAttr(tensor, native_names[NAME___class__], native_objects[NATIVE_Pending]) < 0;
    Py_XDECREF(attributes);
    return failed ? -1 : 0;
}

/* The call returned: whoever holds the handle holds the operation. */
static void keep(const struct call *call, struct native_operation *op, PyObject *work)
{
    struct native_inside *inside = native_inside();

    if (work == Py_None || (op->is_sync && inside->work != NULL)) {
        PyObject *pair = PyTuple_Pack(2, (PyObject *)op, work);

        native_tell(NATIVE_issued, call->group, pair);
        Py_XDECREF(pair);
    } else if (op->is_sync) {
        native_inside_block(inside, work, (PyObject *)op);
    } else {
        PyObject_GC_Track(op); /* the tensor holds it from now on, and it the tensor */
        if (native_attach(work, op) < 0 || put(call->tensor, op) < 0) {
            native_tell_error(NATIVE_spoil, NULL, false);
        }
    }
}

static bool is_same_recording(unsigned long life)
{
    return native_recording.is_on && native_recording.life == life;
}

PyObject *native_all_reduce(PyObject *original, PyObject *careful, PyObject *arguments,
                            PyObject *named)
{
    struct native_inside *inside = native_inside();
    struct native_operation *op;
    struct call call;
    unsigned long life;
    PyObject *work;

    if (native_recording.is_on && inside->is_set) {
        return PyObject_Call(original, arguments, named);
    }
    op = is_served(arguments, named, &call) ? issue(&call) : NULL;
    if (op == NULL) {
        PyErr_Clear();
        return PyObject_Call(careful, arguments, named);
    }
    life = native_recording.life;
    inside->is_set = 1;
    work = PyObject_Call(original, arguments, named);
    inside->is_set = 0;
    if (work == NULL) {
        native_tell_error(NATIVE_failed, (PyObject *)op, true);
    } else if (is_same_recording(life)) {
        keep(&call, op, work);
    }
    Py_DECREF(op);
    return work;
}

/* ---- wait ---- */

/* The tensor is a plain one again, as after pending.take(). */
static int take(PyObject *tensor)
{
    PyObject *attributes;
    int failed;

    if ((PyObject *)Py_TYPE(tensor) != native_objects[NATIVE_Pending]) {
        return 0;
    }
    if (PyObject_SetAttr(tensor, native_names[NAME___class__], native_objects[NATIVE_Tensor]) < 0) {
        return -1;
    }
    attributes = PyObject_GetAttr(tensor, native_names[NAME___dict__]);
    failed = attributes == NULL || PyDict_DelItem(attributes, native_objects[NATIVE_KEY]) < 0;
    Py_XDECREF(attributes);
    if (failed && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear();
        failed = 0;
    }
    return failed ? -1 : 0;
}

/* The counter of writes, without waking the watch: the tensor is a plain one for the question
 * alone. Only a mode of torch's that looks at every function could run something in between. */
static long long version_now(struct native_operation *op)
{
    PyObject *tensor = op->tensor;
    PyTypeObject *type = Py_TYPE(tensor);
    bool is_watched = (PyObject *)type == native_objects[NATIVE_Pending];
    long long version;

    if (is_watched) {
        Py_SET_TYPE(tensor, (PyTypeObject *)native_objects[NATIVE_Tensor]);
    }
    version = native_version(tensor);
    if (is_watched && (PyObject *)Py_TYPE(tensor) == native_objects[NATIVE_Tensor]) {
        Py_SET_TYPE(tensor, type);
    }
    return version;
}

/* "wait", at the program's line. */
static int record_wait(struct native_operation *op)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    struct native_record record = {.event = NATIVE_WAIT, .subject = (PyObject *)op, .version = -1};

    record.where = frame != NULL ? native_caller(frame) : NULL;
    if (record.where == NULL) {
        return -1;
    }
    if (!op->is_over && op->tensor != NULL) {
        record.version = version_now(op);
    }
    record.time = native_now();
    Py_INCREF(op);
    return native_queue_push(native_recording.queue, record);
}

/* What the buffer holds now; where it was moved since the call, Python knows how to copy it. */
static PyObject *result_of(struct native_operation *op)
{
    PyObject *number =
        PyObject_CallFunctionObjArgs(native_objects[NATIVE_data_ptr], op->tensor, NULL);
    unsigned long long address = number != NULL ? PyLong_AsUnsignedLongLong(number) : 0;

    Py_XDECREF(number);
    if (PyErr_Occurred() != NULL) {
        return NULL;
    }
    return address == op->address
               ? native_operation_bytes(op)
               : PyObject_CallMethodObjArgs((PyObject *)op, native_names[NAME_result], NULL);
}

/* The end, as record.finish() writes it. */
static int finish(struct native_operation *op)
{
    struct native_record record = {.event = NATIVE_DONE, .subject = (PyObject *)op};

    if (op->is_over || op->tensor == NULL) {
        record.event = NATIVE_AGAIN;
    } else {
        if (!op->is_sync && take(op->tensor) < 0) {
            return -1;
        }
        op->is_over = 1;
        op->is_pending = 0;
        record.copied = native_recording.has_values ? result_of(op) : NULL;
        if (PyErr_Occurred() != NULL) {
            return -1;
        }
        record.version = native_version(op->tensor);
        PyObject_GC_UnTrack(op);
        Py_CLEAR(op->tensor);
    }
    record.time = native_now();
    Py_INCREF(op);
    return native_queue_push(native_recording.queue, record);
}

/* The operation that is waited for, owned; NULL where Python has to say which ones. */
static struct native_operation *waited_for(PyObject *work, bool *is_known)
{
    struct native_inside *inside = native_inside();
    PyObject *made;

    *is_known = true;
    if (inside->work != work) {
        struct native_operation *op = native_attached(work, is_known);

        if (op != NULL && record_wait(op) < 0) {
            Py_DECREF(op);
            op = NULL;
        }
        return op;
    }
    made = inside->made;
    if (!native_is_operation(made)) {
        return NULL;
    }
    Py_INCREF(made);
    native_inside_block(inside, NULL, NULL);
    return (struct native_operation *)made;
}

PyObject *native_wait(PyObject *original, PyObject *careful, PyObject *arguments, PyObject *named)
{
    struct native_operation *op = NULL;
    unsigned long life = native_recording.life;
    bool is_known = true;
    PyObject *result;

    if (native_recording.is_on && PyTuple_Size(arguments) > 0) {
        op = waited_for(PyTuple_GetItem(arguments, 0), &is_known);
    }
    if (op == NULL) {
        PyErr_Clear();
        return PyObject_Call(is_known ? careful : original, arguments, named);
    }
    result = PyObject_Call(original, arguments, named);
    if (result == NULL) {
        native_tell_error(NATIVE_failed, (PyObject *)op, true);
    } else if (is_same_recording(life) && finish(op) < 0) {
        native_tell_error(NATIVE_spoil, NULL, false);
    }
    Py_DECREF(op);
    return result;
}
