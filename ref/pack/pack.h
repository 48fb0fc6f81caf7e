/* The packed form of a history, spec/pack.md: what its writer and its reader share. */
#ifndef ALAR_PACK_H
#define ALAR_PACK_H

#include "judge/event.h"

enum {
    PACK_VERSION = 1,
    PACK_MAGIC_BYTES = 8,
    PACK_HEAD_BYTES = 12,        /* of a file: the magic number and the version */
    PACK_FRAME_BYTES = 8,        /* of a block: how long it is and its check sum */
    PACK_TAIL_BYTES = 24,        /* of a file: what follows its last block */
    PACK_BLOCK_BYTES = 32 << 10, /* when a writer ends a block */
    PACK_BLOCK_MOST = 40 << 20,  /* longest one: a line is never split */
    PACK_SHAPES = 59,            /* of a block */
    PACK_SHAPE_BYTES = 512,      /* longest shape */
    PACK_SLOTS = 32,             /* of a shape */
    PACK_TEXTS = 1024,           /* kept ones of a block */
    PACK_TEXT_BYTES = 255,       /* longest text in a slot */
    PACK_ITEMS = 1 << 16,        /* of a list in a slot */
    PACK_BEFORE = 256,           /* values that the next list of values is told by */
    PACK_DECIMAL_BYTES = 64      /* longest number that is no integer */
};

/* The first bytes of a packed file; no text begins so. */
extern const unsigned char pack_magic[PACK_MAGIC_BYTES];

/* What a record of a block is; from PACK_FIRST on: a line of that shape. */
enum pack_code {
    PACK_LINE,  /* a line as it stands */
    PACK_SHAPE, /* a new shape, and a line of it */
    PACK_TAIL,  /* a last line that no newline ends, as it stands */
    PACK_REST,  /* bytes behind it that are no line: the first of them is zero */
    PACK_ZEROS, /* so many zeros behind it */
    PACK_FIRST
};

/* What stands in a shape where lines differ. */
enum pack_kind {
    PACK_INTEGER = 1, /* -12 */
    PACK_TEXT,        /* "text" */
    PACK_OP,          /* "group/number" */
    PACK_RANKS,       /* [0,1,2] */
    PACK_OPS,         /* ["group/0","group/1"] */
    PACK_NUMBERS,     /* [0,1]: operations of the group `world` */
    PACK_DECIMAL,     /* 5.25 */
    PACK_BITS = 0x10, /* ["3f800000"]: 2, 4, 8, 16 digits */
    PACK_BIT = 0x14,  /* "3f800000": likewise */
    PACK_KINDS = 0x18
};

struct pack_slot {
    uint8_t kind;
    uint8_t field; /* ALAR_FIELD_COUNT: a key that is no field */
    uint16_t at;   /* where its byte stands in the shape */
    bool counts;   /* the field is a number, and not an unread one */
};

/* What a shape says of all its lines. */
struct pack_constant {
    uint8_t field;
    int64_t number;
    struct alar_text text; /* of the shape */
};

/* A line without what differs: `{"ev":"sync","rank":\1,"t":\1}`. */
struct pack_shape {
    char text[PACK_SHAPE_BYTES];
    size_t length;
    struct pack_slot slot[PACK_SLOTS];
    struct pack_constant constant[PACK_SLOTS];
    unsigned slots, constants;
    enum alar_record record;
    bool has[ALAR_FIELD_COUNT];
    double loss;
    bool loss_is_empty;
};

/* Reads text and length of a shape. False when its lines are no records, or it has too much in it;
   nothing of it counts then. */
bool pack_shape_compile(struct pack_shape *shape);

/* Does a text stand for itself between quotes? ASCII, no escape. */
bool pack_is_plain(const char *text, size_t length);

/* Is it a number as JSON has them? */
bool pack_is_decimal(struct alar_text text);

/* Digits of a value of PACK_BITS or PACK_BIT. */
unsigned pack_digits(unsigned kind);

/* How many bytes of a number are written: 7 bits a byte, the lowest first. */
enum {
    PACK_VARINT_BYTES = 10
};
size_t pack_varint(unsigned char *to, uint64_t number);

/* A difference, small ones of either sign as small numbers; and back. */
static inline uint64_t pack_zigzag(int64_t number)
{
    return (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
}

static inline int64_t pack_unzigzag(uint64_t coded)
{
    return (int64_t)(coded >> 1 ^ (coded & 1 ? UINT64_MAX : 0));
}

/* Little-endian numbers. */
void pack_put(unsigned char *to, uint64_t number, unsigned bytes);
uint64_t pack_get(const unsigned char *from, unsigned bytes);

#endif
