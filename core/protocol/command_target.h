// The session as the module `control` sees it: what commands read and change.
#pragma once

#include <cstdint>

#include <hprof/collector.h>
#include <hprof/plugin.h>

#include "core/base/text.h"
#include "core/protocol/answer.h"
#include "core/protocol/command.h"

namespace hprof {

// The result of a report.
struct Reported {
  uint32_t written = 0;
  uint32_t failed = 0;
  char why[256] = "";  // of the last failure: ": " and the reason
  bool output_gone = false;
};

// Of the session's lifetime.
class CommandTarget {
 public:
  // For the threads that receive commands. [any] but [signal]

  // Runs the command on the control thread and waits for its answer without a deadline. False: the session
  // has ended before its turn.
  virtual bool perform(const Command& command, Answer* answer) = 0;
  // Call it after an answer with `detach` has been passed on.
  virtual void request_detach() = 0;
  virtual void detail(const char* text) = 0;  // Messages::detail
  // The peer of net= gets the result of its command; see Reports::echo.
  virtual void echo(uint32_t serial, bool good, const char* text) = 0;
  virtual void end_conversation() = 0;  // the peer sends no more commands

  // For ControlServer::run. [control] under Control::acquire

  struct Collector {
    const hprof_unit* unit;
    bool running;
    bool has_data;
    bool gone;  // the unit was given up
  };
  virtual uint32_t collector_count() const = 0;
  virtual Collector collector(uint32_t index) const = 0;
  virtual void start_all() = 0;
  virtual void stop_all() = 0;
  virtual bool start(uint32_t index) = 0;
  virtual void stop(uint32_t indices) = 0;  // a bit for each
  // Passes a change to a running collector. False: it does not know it.
  virtual bool change(uint32_t index, const hprof_control& control) = 0;
  virtual void reset(uint32_t index) = 0;  // if it can be reset, and has data
  // cutoff: below 0: that of the options.
  virtual Reported report(double cutoff, uint32_t flags, const char* const* records) = 0;
  // Writes a record, or the traces that the output does not have yet. False: the output is gone.
  virtual bool write(hprof_record* record) = 0;
  virtual bool write_traces(uint32_t* last) = 0;
  virtual bool measure_heap(uint64_t* bytes, uint64_t* objects) = 0;
  virtual bool collect_garbage() = 0;
  virtual const char* exit_vm() = 0;  // nullptr: the VM ends; else why it does not
  virtual uint32_t set_depth(uint32_t depth) = 0;
  virtual bool can_be_detached() const = 0;
  virtual void leave_out_last() = 0;  // Reports::leave_out_last
  virtual void put_output(TextWriter* out) const = 0;
  struct Totals {
    uint32_t depth;
    uint32_t threads;
    uint64_t memory;
    bool output_is_open;
  };
  virtual Totals totals() const = 0;
  virtual void put_losses(TextWriter* lines) const = 0;
  // Forgets the last message, or appends it: that about the output, or of the session.
  virtual void forget_message() = 0;
  virtual void put_last_message(bool of_output, const char* otherwise, TextWriter* out) = 0;
};

}  // namespace hprof
