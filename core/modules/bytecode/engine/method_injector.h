// Writes one method with its probes.
#pragma once

#include "core/modules/bytecode/engine/class_writer.h"
#include "core/modules/bytecode/engine/code_plan.h"
#include "core/modules/bytecode/engine/code_tables.h"
#include "core/modules/bytecode/engine/injector.h"
#include "core/modules/bytecode/engine/method_values.h"
#include "core/modules/bytecode/engine/stack_map.h"

namespace hprof {

// The constants of the targets that a class calls, made at first use.
class TargetConstants {
 public:
  TargetConstants(const ProbeSet& probes, PoolWriter& pool) : probes_(probes), pool_(pool) {}
  uint16_t method(uint32_t user, Target target);
  uint16_t throwable() {
    return throwable_ != 0 ? throwable_ : throwable_ = pool_.class_of(span_of("java/lang/Throwable"));
  }
  uint16_t stack_map_table() {
    return stack_map_ != 0 ? stack_map_ : stack_map_ = pool_.utf8(span_of("StackMapTable"));
  }

 private:
  const ProbeSet& probes_;
  PoolWriter& pool_;
  uint16_t owners_[kMostUsers] = {}, methods_[kMostUsers][kTargets] = {};
  uint16_t throwable_ = 0, stack_map_ = 0;
};

// Inserts the probes into one method that has code and that the patterns include.
class MethodInjector {
 public:
  MethodInjector(const ProbeSet& probes, const ClassView& view, const MethodView& method, PoolWriter& pool,
                 TargetConstants& constants, CallClassifier& calls, Scratch& scratch, RewriteCounts& counts)
      : probes_(probes),
        view_(view),
        method_(method),
        pool_(pool),
        constants_(constants),
        calls_(calls),
        scratch_(scratch),
        counts_(counts) {}

  // Plans the method. wanted: kProbe* of probe_set.h, for each user; 0: it gets none. Once.
  Reason plan(const uint32_t* wanted);
  // Then, if that was kRewritten: appends the method_info to scratch.body. If it fails, the caller truncates
  // the body to what it was.
  Reason write();
  // Counts the method as left for that reason by each user that wanted it and has no reason of its own.
  void count_left(Reason reason);

 private:
  // The probes that the method gets for one user.
  struct OfUser {
    Reason reason = Reason::kRewritten;  // else why it gets none
    bool begins = false;
    bool leaf = false;  // leaf() in place of begin()
    bool ends = false, unwinds = false, handles = false;
    bool passes = false, returns = false;  // arguments() and result() in place of begin() and end()
    bool object_init = false;              // it is Object.<init>
    bool allocates = false;
    bool constructs = false;  // it is a constructor that gets constructed()
    bool makes = false;       // it is a constructor of Throwable
    bool catches = false;
    uint32_t call = 0;  // number of the new local variable (a long), which holds what begin() returned

    bool has_any() const { return begins || leaf || object_init || allocates || makes || catches; }
  };

  Reason scan(const uint32_t* wanted);
  Reason decide(const uint32_t* wanted);
  void decide_for(uint32_t user, uint32_t wanted);
  Reason find_values();
  uint32_t new_locals() const;
  void find_constructor(const uint32_t* wanted);
  Reason why_none() const;
  Reason find_stack_map();
  void build_begins();
  void build_begin(uint32_t user);
  void build_end(uint32_t user);
  void build_allocations(uint32_t user);
  void build_probes();
  template <class Visit>
  bool any(const Visit& visit) const {
    for (uint32_t i = 0; i < probes_.user_count; i++) {
      if (visit(users_[i])) return true;
    }
    return false;
  }
  Reason plan_catch_all();
  Reason write_method();
  Reason write_attributes();
  Reason write_attribute(Cursor& in);
  Reason write_frames();
  uint32_t stack_size() const;

  const ProbeSet& probes_;
  const ClassView& view_;
  const MethodView& method_;
  PoolWriter& pool_;
  TargetConstants& constants_;
  CallClassifier& calls_;
  Scratch& scratch_;
  RewriteCounts& counts_;

  CodeView code_;
  CodePlan plan_;
  CodeFacts facts_;
  HandlerFacts handlers_;
  CaughtFacts caughts_;
  MethodValues values_;
  Span stack_map_;
  bool has_stack_map_ = false;
  OfUser users_[kMostUsers];
  uint32_t calls_kept_ = 0;    // users with a local variable
  ProbeBytes unwind_;          // the body of a catch-all handler
  uint32_t unwinds_from_ = 0;  // end of the first begin() in the prologue with an unwind()
  CatchAll catch_alls_[2];
  HandlerFrame handler_frames_[2];
  uint32_t catch_all_count_ = 0;
};

}  // namespace hprof
