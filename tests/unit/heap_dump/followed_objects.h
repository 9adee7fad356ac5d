// A unit that follows objects: weak references are pointers to their addresses, 0 where the object has gone.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <hprof/draft/object_traces.h>
#include <hprof/draft/weaks.h>

#include "tools/mock/mock_host.h"

namespace hprof::dump {

class FollowedObjects {
 public:
  struct Object {
    uint64_t address;
    hprof_trace_serial trace;
  };

  FollowedObjects() = default;
  explicit FollowedObjects(std::vector<Object> objects) : objects_(std::move(objects)) {}

  // One at a time.
  void offer(MockHost* host) const {
    static const hprof_object_traces table = {
        sizeof(hprof_object_traces), 0, [] { return uint64_t{current()->objects_.size()}; },
        [](void* argument, void (*visit)(void*, void*, hprof_trace_serial)) {
          for (const Object& each : current()->objects_) {
            visit(argument, const_cast<uint64_t*>(&each.address), each.trace);
          }
        },
        [] { current()->ended++; }};
    static const hprof_weaks_service weaks = [] {
      hprof_weaks_service service = {};
      service.size = sizeof service;
      service.prove_addresses = [](const hprof_host*, void*, void*) { return 1u; };
      service.address = [](const hprof_host*, void* weak) { return *static_cast<uint64_t*>(weak); };
      return service;
    }();
    current() = this;
    host->set_service(HPROF_SERVICE_WEAKS, &weaks);
    host->extensions["heap_sites hprof.draft.object_traces/1"] = &table;
  }

  std::vector<Object>& objects() { return objects_; }
  mutable uint32_t ended = 0;

 private:
  static const FollowedObjects*& current() {
    static const FollowedObjects* the = nullptr;
    return the;
  }
  std::vector<Object> objects_;
};

}  // namespace hprof::dump
