// Shim: sem_reltimedwait_np(3C).
#pragma once

#include_next <semaphore.h>
#include <time.h>

extern "C" int sem_reltimedwait_np(sem_t*, const struct timespec*);
