/* One handle, every event in every state, for ever: the table against facts (embed.h, lone_allows).
   spec: H-01, H-02, H-03, H-04, H-05, H-06, H-07, H-08 */
c_decl {
\#include "spec/embed.h"
}
c_track "&LONE" "sizeof(LONE)" "Matched";

active proctype everything()
{
    c_code { atexit(moves_print); };
    do
    :: c_code { lone_try(ALAR_EVENT_POST); }
    :: c_code { lone_try(ALAR_EVENT_COMPLETE); }
    :: c_code { lone_try(ALAR_EVENT_FAIL); }
    :: c_code { lone_try(ALAR_EVENT_EXPIRE); }
    :: c_code { lone_try(ALAR_EVENT_READ); }
    :: c_code { lone_try(ALAR_EVENT_ACK); }
    :: c_code { lone_try(ALAR_EVENT_TEARDOWN); }
    :: c_code { lone_try(ALAR_EVENT_RELEASE); }
    od
}
