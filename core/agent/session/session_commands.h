// What commands do with a session; the module `control` calls it.
#pragma once

#include "core/agent/session/session_parts.h"
#include "core/protocol/command_target.h"

namespace hprof {

class SessionCommands final : public CommandTarget {
 public:
  explicit SessionCommands(const SessionParts& parts) : parts_(parts) {}

  bool perform(const Command& command, Answer* answer) override;
  void request_detach() override;
  void detail(const char* text) override;
  void echo(uint32_t serial, bool good, const char* text) override;
  void end_conversation() override;

  uint32_t collector_count() const override;
  Collector collector(uint32_t index) const override;
  void start_all() override;
  void stop_all() override;
  bool start(uint32_t index) override;
  void stop(uint32_t indices) override;
  bool change(uint32_t index, const hprof_control& control) override;
  void reset(uint32_t index) override;
  Reported report(double cutoff, uint32_t flags, const char* const* records) override;
  bool write(hprof_record* record) override;
  bool write_traces(uint32_t* last) override;
  bool measure_heap(uint64_t* bytes, uint64_t* objects) override;
  bool collect_garbage() override;
  const char* exit_vm() override;
  uint32_t set_depth(uint32_t depth) override;
  bool can_be_detached() const override;
  void leave_out_last() override;
  void put_output(TextWriter* out) const override;
  Totals totals() const override;
  void put_losses(TextWriter* lines) const override;
  void forget_message() override;
  void put_last_message(bool of_output, const char* otherwise, TextWriter* out) override;

 private:
  const SessionParts& parts_;
};

}  // namespace hprof
