// Shim: gethrtime(3C), gethrvtime(3C).
#pragma once

#include_next <sys/time.h>

typedef long long hrtime_t;
extern "C" hrtime_t gethrtime(void);
extern "C" hrtime_t gethrvtime(void);
