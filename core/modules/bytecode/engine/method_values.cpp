#include "core/modules/bytecode/engine/method_values.h"

namespace hprof {

namespace {

bool is_constructor(const MethodView& method) { return method.name.equals("<init>", 6); }

// The instruction that loads a value of that type, but for float and double; 0: none.
uint8_t load_of(uint8_t letter) {
  switch (letter) {
    case 'L':
      return kOpAload;
    case 'J':
      return kOpLload;
    case 'F':
    case 'D':
    case 'V':
      return 0;
    default:
      return kOpIload;
  }
}

// 0: there is no such type.
uint8_t return_of(uint8_t letter) {
  switch (letter) {
    case 'V':
      return kOpReturn;
    case 'F':
      return kOpFreturn;
    case 'D':
      return kOpDreturn;
    default:
      return static_cast<uint8_t>(kOpIreturn + (load_of(letter) - kOpIload));
  }
}

}  // namespace

bool stores_local_0(const uint8_t* at) {
  uint8_t op = at[0];
  if (op >= kOpIstore && op <= kOpAstore) return at[1] == 0;
  if (op >= kOpIstore0 && op <= kOpAstore3) return (op - kOpIstore0) % 4 == 0;
  if (op == kOpWide) return at[1] >= kOpIstore && at[1] <= kOpAstore && load_be16(at + 2) == 0;
  return false;
}

Reason find_arguments(const MethodView& method, const CodeView& code, MethodValues* values) {
  uint32_t slot = (method.access & kAccStatic) == 0 ? 1 : 0;
  if (slot != 0 && !is_constructor(method)) values->self = {kOpAload, 0};
  uint32_t at = 0;
  uint8_t letter;
  while ((letter = next_parameter(method.descriptor, &at)) != ')') {
    if (letter == 0) return Reason::kMalformedCode;
    if (const uint8_t load = load_of(letter); load != 0) {
      const bool is_reference = load == kOpAload;
      MethodValues::Local& first = is_reference ? values->first : values->first_value;
      MethodValues::Local& last = is_reference ? values->last : values->last_value;
      last = {load, slot};
      if (first.load == 0) first = last;
    }
    slot += letter == 'J' || letter == 'D' ? 2 : 1;
  }
  return slot <= code.max_locals ? Reason::kRewritten : Reason::kMalformedCode;
}

Reason find_result(const MethodView& method, const CodeView& code, uint32_t spare, MethodValues* values) {
  uint32_t at = 0;
  uint8_t letter;
  while ((letter = next_parameter(method.descriptor, &at)) != ')' && letter != 0) continue;
  if (letter == 0 || at == method.descriptor.size) return Reason::kMalformedCode;
  const uint8_t returned = method.descriptor.data[at] == '[' ? 'L' : method.descriptor.data[at];
  if (is_constructor(method)) {
    if (code.max_locals == 0) return Reason::kMalformedCode;
    values->result = {kOpAload, 0};
  } else if (const uint8_t load = load_of(returned); load != 0) {
    values->result = {load, spare};
    values->stores_result = true;
  }
  const uint8_t* bytes = code.code.data;
  for (uint32_t pc = 0; pc < code.code.size; pc += instruction_length(bytes, code.code.size, pc)) {
    if (kOpInfo[bytes[pc]].kind == OpKind::kReturn && bytes[pc] != return_of(returned))
      return Reason::kMalformedCode;
    // What is in the variable of `this` now, nobody knows without the types.
    if (is_constructor(method) && stores_local_0(bytes + pc)) values->result = {};
  }
  return Reason::kRewritten;
}

void push_reference(const MethodValues::Local& local, ProbeBytes* to) {
  if (local.load == kOpAload) {
    to->local(kOpAload, local.index);
  } else {
    to->op(kOpAconstNull);
  }
}

void push_value(const MethodValues::Local& local, ProbeBytes* to) {
  if (local.load != kOpIload && local.load != kOpLload) return to->op(kOpLconst0);
  to->local(local.load, local.index);
  if (local.load == kOpIload) to->op(kOpI2l);
}

}  // namespace hprof
