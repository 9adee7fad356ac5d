// Puts probes into a class file: bytes in, bytes out, no VM. In case of doubt the method or the class stays
// unchanged.
#pragma once

#include "core/modules/bytecode/engine/class_reader.h"
#include "core/modules/bytecode/engine/probe_set.h"
#include "core/modules/bytecode/engine/scratch.h"

namespace hprof {

// Counts of one class; the engine adds them up.
struct RewriteCounts {
  struct OfUser {
    uint32_t begun = 0;                // methods that got begin() and what belongs to it
    uint32_t leaves = 0;               // and leaf() alone
    uint32_t left[kReasonCount] = {};  // without its probes, by reason
  };
  uint32_t methods = 0;  // with code
  uint32_t handlers = 0;
  uint32_t handlers_left_out = 0;  // without a safe place for handler()
  uint32_t caughts = 0;
  uint32_t caughts_left_out = 0;  // handlers that cover themselves
  uint32_t allocations = 0;       // instructions and calls that got object() or arrays()
  uint32_t islands = 0;
  OfUser users[kMostUsers];
};

struct RewriteResult {
  // kRewritten: there is a new class. kUnchanged: nothing to change. Else: why it was not rewritten.
  Reason reason = Reason::kUnchanged;
  uint32_t size = 0;  // bytes of the new class
  RewriteCounts counts;
  // The new class in pieces, which point into the old class and the scratch.
  Span pieces[4];
  uint8_t head[10];
};

// `file` must live, and `scratch` stay unused, until the result has been copied. [any] with a scratch of its
// own. Cost: linear in the size of the file, for hostile input, too. loader: passed to the callbacks.
void rewrite(Span file, uint32_t loader, const ProbeSet& probes, Scratch& scratch, RewriteResult* result);

// Writes result.size bytes. Only after kRewritten.
void copy_result(const RewriteResult& result, uint8_t* out);

}  // namespace hprof
