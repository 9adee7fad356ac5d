// A model with its memory and losses.
#pragma once

#include <doctest/doctest.h>
#include <memory>
#include <string>

#include "core/model/model.h"
#include "tests/unit/base/test_memory.h"

namespace hprof::test {

inline ModelLimits small_limits() {
  ModelLimits limits = ModelLimits::standard();
  limits.strings = limits.frames = limits.method_map = 32 * 1024;
  limits.classes = limits.methods = limits.traces = 16 * 1024;
  limits.threads = 1024;
  limits.thread_names = 256;
  limits.text_bytes = limits.trace_bytes = limits.line_table_bytes = 4 * 1024 * 1024;
  return limits;
}

struct ModelFixture {
  explicit ModelFixture(const ModelLimits& limits = small_limits(), uint64_t budget = 0)
      : memory(budget), losses(std::make_unique<LossCounters>()), model(std::make_unique<Model>()) {
    losses->open();
    is_created = model->create(memory, limits, *losses);
  }
  ~ModelFixture() {
    model->destroy();
    CHECK(memory.used() == 0);
    CHECK(held_blocks == 0);
    CHECK(held_regions == 0);
  }

  std::string text(uint32_t id) const {
    const Str found = model->text(StringId{id});
    return found.data ? std::string(found.data, found.size) : std::string("(absent)");
  }
  std::string name_of(ClassSerial serial) const { return text(model->class_info(serial)->name); }
  uint64_t lost(Loss loss) const { return losses->value(loss); }

  TestMemory memory;
  std::unique_ptr<LossCounters> losses;
  std::unique_ptr<Model> model;
  bool is_created = false;
};

}  // namespace hprof::test
