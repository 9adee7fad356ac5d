#include <doctest/doctest.h>

#include <hprof/cpp/note.hpp>

#include "tools/mock/mock_host.h"

using namespace hprof;

namespace {

std::string last_note(const MockHost& mock) {
  auto& note = mock.written.back().as<hprof_rec_note>();
  return std::string(note.text.data, note.text.size);
}

}  // namespace

TEST_CASE("a note is a record, which an encoder may leave out") {
  MockHost mock;
  Services services(mock.host());
  Note note;
  note.add("monitor: ").add(uint64_t{3}).add(" threads");
  CHECK(write_note(services, note) == HPROF_OK);
  REQUIRE(mock.written.size() == 1);
  CHECK(mock.written[0].kind() == HPROF_RECORD_NOTE);
  CHECK(last_note(mock) == "monitor: 3 threads");
  mock.write_status = HPROF_UNSUPPORTED;
  CHECK(write_note(services, note) == HPROF_OK);
  mock.write_status = HPROF_ABORTED;
  CHECK(write_note(services, note) == HPROF_ABORTED);
}

TEST_CASE("what has no probes is said in one note, if there is anything") {
  static int reasons;
  hprof_bytecode_service bytecode = {};
  bytecode.size = sizeof bytecode;
  bytecode.each_left = [](const hprof_host*, void* argument,
                          void (*visit)(void*, const char*, uint64_t, uint64_t)) {
    if (reasons > 0) visit(argument, "too large", 2, 3);
    if (reasons > 1) visit(argument, "native", 0, 1);
  };
  MockHost mock;
  mock.set_service(HPROF_SERVICE_BYTECODE, &bytecode);
  Services services(mock.host());
  reasons = 0;
  CHECK(write_note_on_probes(services, "left: ") == HPROF_OK);
  CHECK(mock.written.empty());
  reasons = 2;
  CHECK(write_note_on_probes(services, "left: ") == HPROF_OK);
  CHECK(last_note(mock) == "left: too large (2 classes, 3 methods), native (1 methods)");
}
