/* The records that the calling threads leave for the writer: a ring that grows, as
 * collections.deque to its users. */
#include "python/native/native.h"

#include <stdlib.h>
#include <time.h>

enum {
    ROOM_LEAST = 512,
    ROOM_KEPT = 8192 /* of an empty queue */
};

struct queue {
    PyObject ob_base;
    struct native_record *records;
    size_t first, count, room; /* room: a power of two, or 0 */
};

int64_t native_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void native_record_clear(struct native_record *record)
{
    Py_CLEAR(record->subject);
    Py_CLEAR(record->copied);
    Py_CLEAR(record->fields);
    Py_CLEAR(record->where);
}

static int queue_grow(struct queue *queue)
{
    size_t room = queue->room > 0 ? 2 * queue->room : ROOM_LEAST;
    struct native_record *records = malloc(room * sizeof(*records));

    if (records == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < queue->count; i++) {
        records[i] = queue->records[(queue->first + i) & (queue->room - 1)];
    }
    free(queue->records);
    queue->records = records;
    queue->first = 0;
    queue->room = room;
    return 0;
}

int native_queue_push(PyObject *object, struct native_record record)
{
    struct queue *queue = (struct queue *)object;

    if (queue->count == queue->room && queue_grow(queue) < 0) {
        native_record_clear(&record);
        return -1;
    }
    queue->records[(queue->first + queue->count) & (queue->room - 1)] = record;
    queue->count++;
    return 0;
}

static struct native_record queue_take(struct queue *queue)
{
    struct native_record record = queue->records[queue->first];

    queue->first = (queue->first + 1) & (queue->room - 1);
    queue->count--;
    if (queue->count == 0 && queue->room > ROOM_KEPT) {
        free(queue->records);
        queue->records = NULL;
        queue->room = queue->first = 0;
    }
    return record;
}

static PyObject *or_none(PyObject *object)
{
    return object != NULL ? object : Py_None;
}

/* As alar.torch.writer reads it: (event, operation, time, value, where). */
static PyObject *record_tuple(const struct native_record *record)
{
    PyObject *where = or_none(record->where), *subject = record->subject;

    switch (record->event) {
    case NATIVE_ISSUE:
        return Py_BuildValue("OOL(OLO)O", native_names[NAME_issue], subject,
                             (long long)record->time,
                             record->copied != NULL ? record->copied : Py_False, record->version,
                             record->fields, where);
    case NATIVE_WAIT:
        if (record->version < 0) {
            return Py_BuildValue("OOLOO", native_names[NAME_wait], subject, (long long)record->time,
                                 Py_None, where);
        }
        return Py_BuildValue("OOLLO", native_names[NAME_wait], subject, (long long)record->time,
                             record->version, where);
    case NATIVE_DONE:
        return Py_BuildValue("OOL(OL)O", native_names[NAME_done], subject, (long long)record->time,
                             or_none(record->copied), record->version, where);
    case NATIVE_AGAIN:
        return Py_BuildValue("OOLOO", native_names[NAME_done], subject, (long long)record->time,
                             Py_None, where);
    case NATIVE_WHOLE:
    default:
        Py_INCREF(subject);
        return subject;
    }
}

/* ---- methods ---- */

static PyObject *queue_append(PyObject *self, PyObject *record)
{
    Py_INCREF(record);
    if (native_queue_push(self, (struct native_record){.event = NATIVE_WHOLE, .subject = record}) <
        0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *queue_popleft(PyObject *self, PyObject *unused)
{
    struct queue *queue = (struct queue *)self;
    struct native_record record;
    PyObject *tuple;

    (void)unused;
    if (queue->count == 0) {
        PyErr_SetString(PyExc_IndexError, "pop from an empty queue");
        return NULL;
    }
    record = queue_take(queue);
    tuple = record_tuple(&record);
    native_record_clear(&record);
    return tuple;
}

static PyObject *queue_clear(PyObject *self, PyObject *unused)
{
    struct queue *queue = (struct queue *)self;

    (void)unused;
    while (queue->count > 0) {
        struct native_record record = queue_take(queue);

        native_record_clear(&record);
    }
    Py_RETURN_NONE;
}

static Py_ssize_t queue_length(PyObject *self)
{
    return (Py_ssize_t)((struct queue *)self)->count;
}

static void queue_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject *none = queue_clear(self, NULL);

    Py_XDECREF(none);
    free(((struct queue *)self)->records);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"append", queue_append, METH_O, "Adds a record: (event, operation, time, value, where)."},
    {"popleft", queue_popleft, METH_NOARGS, "The oldest record."},
    {"clear", queue_clear, METH_NOARGS, "Drops all records."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    NATIVE_SLOT(Py_tp_dealloc, queue_dealloc),
    NATIVE_SLOT(Py_sq_length, queue_length),
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec native_queue_spec = {
    .name = "_alar_torch.Queue",
    .basicsize = sizeof(struct queue),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
