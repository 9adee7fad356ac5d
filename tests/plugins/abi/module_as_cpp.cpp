// The same as C++.
#include "module_as_c.c"
