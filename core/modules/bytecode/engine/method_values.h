// The values that probes pass on: arguments in local variables, and what a method returns.
#pragma once

#include "core/modules/bytecode/engine/code_plan.h"

namespace hprof {

struct MethodValues {
  // A local variable, and iload, lload or aload; 0: there is none, so null or 0 is passed.
  struct Local {
    uint8_t load = 0;
    uint32_t index = 0;
  };
  Local self, first, last;  // references
  Local first_value, last_value;
  Local result;
  bool stores_result = false;  // before the probes, and loads it again after them
};

// True: the instruction stores into local variable 0.
bool stores_local_0(const uint8_t* at);

// kMalformedCode if the descriptor does not fit the local variables.
Reason find_arguments(const MethodView& method, const CodeView& code, MethodValues* values);
// spare: a local variable of two slots that no instruction uses. kMalformedCode if a return does not fit the
// descriptor.
Reason find_result(const MethodView& method, const CodeView& code, uint32_t spare, MethodValues* values);

void push_reference(const MethodValues::Local& local, ProbeBytes* to);  // or null
void push_value(const MethodValues::Local& local, ProbeBytes* to);      // a long; or 0

}  // namespace hprof
