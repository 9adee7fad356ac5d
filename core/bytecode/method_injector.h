// Writes one method with its probes.
#pragma once

#include "core/bytecode/class_writer.h"
#include "core/bytecode/code_plan.h"
#include "core/bytecode/code_tables.h"
#include "core/bytecode/injector.h"
#include "core/bytecode/stack_map.h"

namespace hprof {

// Constants of the probes of a class, made at first use.
class TrackerConstants {
 public:
  TrackerConstants(const ProbeSet& probes, PoolWriter& pool) : probes_(probes), pool_(pool) {}
  uint16_t enter() { return method(&enter_, probes_.tracker.enter, "(I)J"); }
  uint16_t exit() { return method(&exit_, probes_.tracker.exit, "(J)V"); }
  uint16_t unwind() { return method(&unwind_, probes_.tracker.unwind, "(J)V"); }
  uint16_t constructed() { return method(&constructed_, probes_.tracker.constructed, "(J)J"); }
  uint16_t sync() { return method(&sync_, probes_.tracker.sync, "(JI)V"); }
  uint16_t leaf() { return method(&leaf_, probes_.tracker.leaf, "(I)V"); }
  uint16_t caught() { return method(&caught_, probes_.tracker.caught, "(Ljava/lang/Object;I)V"); }
  uint16_t made() { return method(&made_, probes_.tracker.made, "(Ljava/lang/Object;)V"); }
  uint16_t allocated() { return method(&allocated_, probes_.tracker.allocated, "(Ljava/lang/Object;)V"); }
  uint16_t allocated_arrays() {
    return method(&arrays_, probes_.tracker.allocated_arrays, "(Ljava/lang/Object;I)V");
  }
  uint16_t throwable() {
    return throwable_ != 0 ? throwable_ : throwable_ = pool_.class_of(span_of("java/lang/Throwable"));
  }
  uint16_t stack_map_table() {
    return stack_map_ != 0 ? stack_map_ : stack_map_ = pool_.utf8(span_of("StackMapTable"));
  }

 private:
  uint16_t method(uint16_t* index, const char* name, const char* descriptor);

  const ProbeSet& probes_;
  PoolWriter& pool_;
  uint16_t owner_ = 0, enter_ = 0, exit_ = 0, unwind_ = 0, sync_ = 0, leaf_ = 0, allocated_ = 0, arrays_ = 0;
  uint16_t caught_ = 0, made_ = 0, constructed_ = 0;
  uint16_t throwable_ = 0, stack_map_ = 0;
};

// Inserts the probes into one method that has code and that the patterns include.
class MethodInjector {
 public:
  MethodInjector(const ProbeSet& probes, const ClassView& view, const MethodView& method, PoolWriter& pool,
                 TrackerConstants& constants, CallClassifier& calls, Scratch& scratch, RewriteCounts& counts)
      : probes_(probes),
        view_(view),
        method_(method),
        pool_(pool),
        constants_(constants),
        calls_(calls),
        scratch_(scratch),
        counts_(counts) {}

  // wanted: kProbe* of probe_set.h. kRewritten: the method_info was appended to scratch.body. Otherwise the
  // caller truncates the body to what it was.
  Reason run(uint32_t wanted);

 private:
  Reason decide(uint32_t wanted);
  Reason find_stack_map();
  void build_probes();
  Reason plan_catch_all();
  Reason write();
  Reason write_attributes();
  Reason write_attribute(Cursor& in);
  Reason write_frames();
  uint32_t stack_size() const;

  const ProbeSet& probes_;
  const ClassView& view_;
  const MethodView& method_;
  PoolWriter& pool_;
  TrackerConstants& constants_;
  CallClassifier& calls_;
  Scratch& scratch_;
  RewriteCounts& counts_;

  CodeView code_;
  CodePlan plan_;
  CodeFacts facts_;
  SyncFacts syncs_;
  CaughtFacts caughts_;
  Span stack_map_;
  bool has_stack_map_ = false;
  // The probes that the method gets.
  bool enters_ = false;
  bool leaf_ = false;  // leaf() in place of enter()
  bool exits_ = false;
  bool object_init_ = false;  // it is Object.<init>
  bool makes_ = false;        // it is a constructor of Throwable
  bool unwinds_ = false;
  bool constructs_ = false;  // it is a constructor that gets constructed()
  uint32_t prev_ = 0;        // number of the new local variable (a long), which holds what enter() returned
  ProbeBytes unwind_;        // the body of a catch-all handler
  CatchAll catch_alls_[2];
  HandlerFrame handler_frames_[2];
  uint32_t catch_all_count_ = 0;
};

}  // namespace hprof
