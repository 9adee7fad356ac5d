// The operating system, as all other folders use it. Only this folder has OS headers and OS #ifdefs; the
// folders below it are the ports (posix is shared by linux and solaris).
//
// Conventions of every function here:
//
//  - Errors are values. A function that returns `int` returns 0 or an error code; one that returns a count as
//    `int64_t` returns the count (>= 0) or the negated error code. error.h has the codes and error_text().
//  - Times are int64_t nanoseconds unless the name says otherwise. A deadline is a value of monotonic_ns(),
//    so that a loop passes the same deadline on; kNoDeadline waits for ever, a deadline in the past polls
//    once.
//  - Thread tags: [any] any thread outside a signal handler; [signal] any thread, also in a signal handler
//    (takes no lock, allocates nothing, keeps errno). A tag on a group holds for each function in it.
//  - Text is NUL-terminated. A result that does not fit is cut, and still terminated. Callbacks that list
//    something return false to end the listing; their arguments are valid during the call only.
#pragma once

#include "platform/accounting.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/guarded_read.h"
#include "platform/library.h"
#include "platform/memory.h"
#include "platform/native_code.h"
#include "platform/process.h"
#include "platform/sampling.h"
#include "platform/socket.h"
#include "platform/thread.h"
#include "platform/thread_variable.h"
#include "platform/vm_dump.h"
