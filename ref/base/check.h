/* Claims the program makes about itself. They stay on in every build: a broken claim is a defect of
   alar, never an error of the world, so it ends in the hook below and nothing after it runs. */
#ifndef ALAR_CHECK_H
#define ALAR_CHECK_H

/* Called with a broken claim; never returns. The shell prints one line and leaves with exit code 4;
   a test or a model checker supplies its own. */
_Noreturn void alar_check_failed(const char *kind, const char *claim, const char *file, int line);

#define ALAR_ASSERT(kind, claim, truth) \
    ((truth) ? (void)0 : alar_check_failed(kind, claim, __FILE__, __LINE__))

/* A caller's duty, our own promise at the end, and a named clause of an invariant. */
#define PRE(truth) ALAR_ASSERT("precondition", #truth, truth)
#define POST(truth) ALAR_ASSERT("postcondition", #truth, truth)
#define INV(name, truth) ALAR_ASSERT("invariant", name, truth)

#define IMPLIES(a, b) (!(a) || (b))

/* Clauses whose cost grows with the struct: run by test, sanitizer and fuzz builds (-DALAR_DEEP);
   the model checker drives the production objects and calls the deep invariants itself. */
#ifdef ALAR_DEEP
#define DEEP(call) (call)
#else
#define DEEP(call) ((void)0)
#endif

#endif
