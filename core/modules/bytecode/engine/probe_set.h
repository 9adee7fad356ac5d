// The probes to insert, as data: the engine itself knows no collector.
//
// A user of probes has a class of its own, which every class loader must be able to see. Its static methods
// are the targets that probes call, one for each kind of point:
//
//   long begin(int method)               at the start of a method; the result stays in a new local variable
//   long arguments(int method, Object self, Object first, Object last, long first_value, long last_value)
//                                        in place of begin(), see kProbeArguments
//   void end(long call)                  before each return
//   void result(long call, Object result, long value)
//                                        in place of end(), see kProbeResult
//   void unwind(long call)               when an exception leaves the method (a catch-all that rethrows)
//   long constructed(long call)          in a constructor, when super() or this() has returned; the result
//                                        replaces call. begin() has got ~method. Not where super() is
//                                        Object's
//   void handler(long call, int method)  at the start of each exception handler of the method
//   void leaf(int method)                instead of all these in a method without calls, allocations, loops,
//                                        monitors and throw (a class initialiser that it runs is ignored)
//   void object(Object object)           see kProbeObjectInit, kProbeArrays, kProbeCalls
//   void arrays(Object array, int dimensions)
//                                        after multianewarray
//   void made(Object exception)          before each return of the constructors of java.lang.Throwable
//   void caught(Object exception, int method)
//                                        at the start of a handler with a type (finally clauses have none)
//
// At a point of several users the first one's target is called first, at the end of a method last.
#pragma once

#include "core/base/span.h"
#include "core/modules/bytecode/engine/reason.h"

namespace hprof {

enum Probe : uint32_t {
  kProbeBegin = 1 << 0,
  // Each requires kProbeBegin.
  kProbeEnd = 1 << 1,
  kProbeUnwind = 1 << 2,
  kProbeHandler = 1 << 3,
  // Leaf methods get leaf() in place of begin(), end(), unwind() and handler(). Alone: leaf() everywhere.
  kProbeLeaf = 1 << 4,
  kProbeObjectInit = 1 << 5,  // in the constructor of java.lang.Object: object(this)
  kProbeArrays = 1 << 6,      // after newarray, anewarray, multianewarray
  kProbeCalls = 1 << 7,       // after the calls of ProbeSet::call_hooks
  kProbeCaught = 1 << 8,
  kProbeMade = 1 << 9,
  // Requires kProbeUnwind, which does not cover super() and this(): a constructor in which they throw ends
  // without end() and unwind().
  kProbeConstructed = 1 << 10,
  // Requires kProbeBegin: arguments() in its place. self: null in constructors, too. first and last argument
  // that is a reference, and that is an integral number; null and 0: none.
  kProbeArguments = 1 << 11,
  // Requires kProbeEnd: result() in its place. Constructors return `this`, unless they store into its
  // variable.
  kProbeResult = 1 << 12,
  kProbeAll = (1 << 13) - 1,
};
constexpr uint32_t kProbesOfTimes = kProbeBegin | kProbeEnd | kProbeUnwind | kProbeHandler | kProbeLeaf;
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
  const ClassView* view = nullptr;  // the class file
  const MethodView* method = nullptr;
  uint32_t* class_word = nullptr;  // for the callbacks: 0 at a class' first method, then as they left it
};

struct FieldToAdd {
  const char* owner;  // internal name of the class that gets the field; NULL: no field
  const char* name;
  const char* descriptor;
  uint16_t access;
};

enum Target : uint32_t {
  kTargetBegin,
  kTargetEnd,
  kTargetUnwind,
  kTargetHandler,
  kTargetLeaf,
  kTargetObject,
  kTargetArrays,
  kTargetMade,
  kTargetCaught,
  kTargetConstructed,
  kTargetArguments,
  kTargetResult,
  kTargets,
};

constexpr uint32_t kMostUsers = 16;

struct ProbesOfUser {
  uint32_t probes = 0;
  const char* owner = nullptr;         // internal name of the class with the targets, which gets no probes
  const char* targets[kTargets] = {};  // names of its methods
  FieldToAdd field{nullptr, nullptr, nullptr, 0};
  // Leaf methods (see kProbeLeaf) get no begin() either.
  bool leaves_out_leaves = false;
  // Nor do methods that the JDK marks as intrinsics of the VM.
  bool leaves_out_intrinsics = false;
};

// Constant while rewrites run on any number of threads. The callbacks are called on the thread that rewrites:
// [any]. NULL: all methods (include_method), numbers from 0 in each class (method_id), no report (left).
struct ProbeSet {
  ProbesOfUser users[kMostUsers];
  uint32_t user_count = 0;
  const CallHook* call_hooks = nullptr;
  uint32_t call_hook_count = 0;
  // Methods without probes of their allocations, because their callers' call hooks report them.
  const MethodPattern* quiet_bodies = nullptr;
  uint32_t quiet_body_count = 0;
  // The VM does not compile methods of more bytes than this (HotSpot: -XX:-DontCompileHugeMethods, 8000): a
  // method that would pass the limit by its probes gets none. 0: no limit.
  uint32_t huge_method_bytes = 8000;

  void* context = nullptr;
  bool (*include_class)(void* context, Span name, uint16_t access) = nullptr;
  // Returns which of a user's `probes` that method gets.
  uint32_t (*include_method)(void* context, const MethodSite& site, uint32_t user, uint32_t probes) = nullptr;
  // Called for each user of a method that gets kProbeBegin, kProbeLeaf or kProbeCaught. If the method is not
  // rewritten after all (`left`), its id stays unused.
  int32_t (*method_id)(void* context, const MethodSite& site, uint32_t user) = nullptr;
  // An included method (or, with an empty name, a class) was not rewritten.
  void (*left)(void* context, const MethodSite& site, Reason reason) = nullptr;
};

}  // namespace hprof
