// Shim: _lwp_self(2).
#pragma once

extern "C" unsigned int _lwp_self(void);
