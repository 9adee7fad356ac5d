#include "tests/unit/agent/small_class.h"

#include "tests/unit/bytecode/class_builder.h"

namespace hprof {

std::string small_class(const std::string& name) {
  test::ClassBuilder builder(name);
  test::Method method;
  method.code = {0xb1};  // return
  builder.add(method);
  const test::Bytes bytes = builder.build();
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace hprof
