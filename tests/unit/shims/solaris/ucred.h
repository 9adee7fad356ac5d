// Shim: getpeerucred(3C).
#pragma once

#include <sys/types.h>

typedef struct ucred_s ucred_t;
extern "C" int getpeerucred(int, ucred_t**);
extern "C" uid_t ucred_geteuid(const ucred_t*);
extern "C" void ucred_free(ucred_t*);
