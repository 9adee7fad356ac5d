// A record of each kind, and some that are long, empty or of an unknown kind.
#pragma once

#include <functional>

#include <hprof/mock/mock_host.h>

namespace hprof::tool {

// In an order that occurs in outputs. name: of the kind or table. Records are valid during the call.
void each_sample(MockHost& mock,
                 const std::function<void(const char* name, const hprof_record& record)>& visit);

constexpr char kUnknownKind[] = "com.example.unknown/1";

}  // namespace hprof::tool
