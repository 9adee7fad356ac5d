// The recorded input of the golden tests: one session that has every kind of record, and names that hurt.
#pragma once

#include <functional>

#include <hprof/record.h>

#include "tools/mock/mock_host.h"

namespace hprof {

// The objects behind a recording. Make one, then play it into an encoder as often as wanted.
class Recording {
 public:
  Recording();

  MockHost host;
  uint64_t created_ms = 0;  // of the file

  using Player = std::function<void(const hprof_record*)>;
  // FILE_BEGIN to FILE_END: definitions, threads, notes, tables, monitors, a vendor's record, a heap dump.
  void play(const Player& player);
  // cpu=old's output, which has neither prelude nor anything else.
  void play_old(const Player& player);

  hprof_class_serial object_class, string_class, node_class, node_array_class, int_array_class, hostile_class;
  hprof_class_serial byte_array_class;
  hprof_trace_serial plain_trace, native_trace, hostile_trace, thread_trace, empty_trace;
  hprof_thread_serial main_thread, quoted_thread;
  hprof_method_id run_method, native_method, hostile_method;

 private:
  void emit(const Player& player, hprof_record* record);
  void define(const Player& player, uint32_t kind, uint32_t first, uint32_t last);
  void play_report(const Player& player, uint32_t kind);
  void play_definitions(const Player& player);
  void play_session(const Player& player);
  void play_cpu(const Player& player);
  void play_sites(const Player& player);
  void play_monitors(const Player& player);
  void play_vendor(const Player& player);
  void play_heap(const Player& player);
  void play_roots(const Player& player);
  void play_classes(const Player& player);
  void play_objects(const Player& player);

  uint64_t now_us_ = 0;
};

}  // namespace hprof
