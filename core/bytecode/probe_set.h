// The probes to insert, as data: the rewriter itself knows no collector.
//
// All probes are static methods of one tracker class, which every class loader must be able to see:
//
//   long enter(int method)               at the start of a method; the result stays in a new local variable
//   void exit(long prev)                 before each return
//   void unwind(long prev)               when an exception leaves the method (a catch-all that rethrows)
//   long constructed(long prev)          in a constructor, when super() or this() has returned; the result
//                                        replaces prev. enter() has got ~method. Not where super() is
//                                        Object's
//   void sync(long prev, int method)     at the start of each exception handler of the method
//   void leaf(int method)                instead of all these in a method without calls, allocations, loops,
//                                        monitors and throw (a class initialiser that it runs is ignored)
//   void caught(Object exception, int method)
//                                        at the start of a handler with a type (finally clauses have none)
//   void made(Object exception)          before each return of the constructors of java.lang.Throwable
//   void allocated(Object object)        see kProbeObjectInit, kProbeArrays, kProbeCalls
//   void allocated_arrays(Object array, int dimensions)
//                                        after multianewarray
#pragma once

#include "core/base/span.h"
#include "core/bytecode/reason.h"

namespace hprof {

enum Probe : uint32_t {
  kProbeEnter = 1 << 0,
  // Each requires kProbeEnter.
  kProbeExit = 1 << 1,
  kProbeUnwind = 1 << 2,
  kProbeSync = 1 << 3,
  // Leaf methods get leaf() in place of enter(), exit(), unwind() and sync(). Alone: leaf() everywhere.
  kProbeLeaf = 1 << 4,
  kProbeObjectInit = 1 << 5,  // in the constructor of java.lang.Object: allocated(this)
  kProbeArrays = 1 << 6,      // after newarray, anewarray, multianewarray
  kProbeCalls = 1 << 7,       // after the calls of ProbeSet::call_hooks
  kProbeCaught = 1 << 8,
  kProbeMade = 1 << 9,
  // Requires kProbeUnwind, which does not cover super() and this(): a constructor in which they throw ends
  // without exit() and unwind().
  kProbeConstructed = 1 << 10,
  kProbeAll = (1 << 11) - 1,
};
constexpr uint32_t kProbesOfTimes = kProbeEnter | kProbeExit | kProbeUnwind | kProbeSync | kProbeLeaf;
constexpr uint32_t kProbesOfSites = kProbeObjectInit | kProbeArrays | kProbeCalls;

// A constant text with its length, which the compiler counts. Of NULL: none.
struct FixedText {
  const char* text;
  uint32_t size;
  constexpr FixedText(const char* from) : text(from), size(0) {  // NOLINT(google-explicit-constructor)
    while (text != nullptr && text[size] != '\0') size++;
  }
  bool is(Span other) const { return other.equals(text, size); }
};

// Matches a method; NULL matches anything, "[" as owner any array class.
struct MethodPattern {
  FixedText owner;
  FixedText name;
  FixedText descriptor;
};

// A call that returns a new object which no other probe reports. It must return a reference.
struct CallHook {
  uint8_t opcode;  // 0: any kind of invoke
  MethodPattern callee;
};

struct ClassView;
struct MethodView;

// The method that a callback is about; valid during the call.
struct MethodSite {
  Span class_name;  // internal form: java/lang/Object
  Span name;
  Span descriptor;
  uint16_t access;
  uint32_t loader = 0;              // as passed to rewrite()
  const ClassView* view = nullptr;  // the class file; see debug_info.h
  const MethodView* method = nullptr;
  uint32_t* note = nullptr;  // a word for the callbacks: 0 at a class' first method, then as they left it
};

struct FieldToAdd {
  const char* owner;  // internal name of the class that gets the field; NULL: no field
  const char* name;
  const char* descriptor;
  uint16_t access;
};

struct TrackerNames {
  const char* owner = "java/lang/HprofTracker";
  const char* enter = "enter";
  const char* exit = "exit";
  const char* unwind = "unwind";
  const char* constructed = "constructed";
  const char* sync = "sync";
  const char* leaf = "leaf";
  const char* caught = "caught";
  const char* made = "made";
  const char* allocated = "allocated";
  const char* allocated_arrays = "allocatedArrays";
};

// Constant while rewrites run on any number of threads. The callbacks are called on the thread that rewrites:
// [any]. NULL: all methods (include_method), numbers from 0 in each class (method_id), no report (left).
struct ProbeSet {
  uint32_t probes = 0;
  TrackerNames tracker;
  const CallHook* call_hooks = nullptr;
  uint32_t call_hook_count = 0;
  // Methods without probes of their allocations, because their callers' call hooks report them.
  const MethodPattern* quiet_bodies = nullptr;
  uint32_t quiet_body_count = 0;
  FieldToAdd field{nullptr, nullptr, nullptr, 0};
  // The VM does not compile methods of more bytes than this (HotSpot: -XX:-DontCompileHugeMethods, 8000): a
  // method that would pass the limit by its probes gets none. 0: no limit.
  uint32_t huge_method_bytes = 8000;
  // Methods that call nothing (see kProbeLeaf) get no probes.
  bool leaves_out_leaves = false;

  void* context = nullptr;
  bool (*include_class)(void* context, Span name, uint16_t access) = nullptr;
  // Returns which of the `probes` that method gets.
  uint32_t (*include_method)(void* context, const MethodSite& site, uint32_t probes) = nullptr;
  // Called for each method that gets kProbeEnter, kProbeLeaf or kProbeCaught. If the method is not rewritten
  // after all (`left`), its id stays unused.
  int32_t (*method_id)(void* context, const MethodSite& site) = nullptr;
  // An included method (or, with an empty name, a class) was not rewritten.
  void (*left)(void* context, const MethodSite& site, Reason reason) = nullptr;
};

}  // namespace hprof
