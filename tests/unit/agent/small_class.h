#pragma once

#include <string>

namespace hprof {

// The class file of a class with one static method m(), which returns.
std::string small_class(const std::string& name);

}  // namespace hprof
