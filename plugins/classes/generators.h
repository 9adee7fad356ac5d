// Who generated a class, by its name or by the method that defined it.
#pragma once

#include <hprof/abi.h>

namespace hprof::classes {

// "lambda"; "hidden" for other hidden classes; null: it is not known to be generated. signature: of the
// class. definer: name of the class whose method called the JDK to define it; absent: a loader looked for it.
const char* generator_of(const char* signature, hprof_text definer);

}  // namespace hprof::classes
