// Makes a method's new bytes, with the wanted probes.
#include "core/modules/bytecode/engine/method_injector.h"

#include <initializer_list>

#include "core/modules/bytecode/engine/intrinsics.h"
#include "core/modules/bytecode/engine/probe_users.h"

namespace hprof {

static constexpr uint16_t kFirstFinalVirtualThreads = 65;  // class file version of JDK 21
static_assert(uint32_t{kTargets} == HPROF_POINTS, "a target for each point, in the same order");

uint16_t TargetConstants::method(uint32_t user, Target target) {
  uint16_t& index = methods_[user][target];
  if (index != 0) return index;
  const ProbesOfUser& of = probes_.users[user];
  if (owners_[user] == 0) owners_[user] = pool_.new_class(span_of(of.owner));
  return index = pool_.method(owners_[user], span_of(of.targets[target]), span_of(kTargetTypes[target]));
}

// HotSpot gives a class a finalizer unless its finalize() is a lone return, like java.lang.Object's: a probe
// in there would have every object finalized.
static bool is_empty_finalizer(const MethodView& method, const CodeView& code) {
  return code.code.size == 1 && method.name.equals("finalize", 8) && method.descriptor.equals("()V", 3);
}

// True: the current thread may change during the method, and end() would find another thread's state. The
// method's callers end on their own thread again.
static bool changes_thread(const ClassView& view, const MethodView& method) {
  if (view.name.equals("jdk/internal/vm/Continuation")) return true;
  if (!view.name.equals("java/lang/VirtualThread")) return false;
  if (view.major < kFirstFinalVirtualThreads) return true;
  for (const char* name : {"mount", "unmount", "switchToCarrierThread", "switchToVirtualThread"}) {
    if (method.name.equals(name)) return true;
  }
  return false;
}

Reason MethodInjector::plan(const uint32_t* wanted) {
  for (uint32_t i = 0; i < probes_.user_count; i++) {
    if (wanted[i] == 0) users_[i].reason = Reason::kExcluded;
  }
  if (!parse_code(view_, method_, &code_)) return Reason::kMalformedCode;
  if (is_empty_finalizer(method_, code_)) return Reason::kEmptyFinalizer;
  plan_.code = &code_;
  plan_.marks = scratch_.marks.array<uint8_t>(code_.code.size + 1);
  if (plan_.marks == nullptr) return Reason::kNoMemory;
  Reason reason = decide(wanted);
  if (reason != Reason::kRewritten) return reason;
  build_probes();
  if (pool_.failed()) return pool_.failure();
  reason = plan_.lay_out(scratch_);
  if (reason != Reason::kRewritten) return reason;
  reason = plan_catch_all();
  if (reason != Reason::kRewritten) return reason;
  if (plan_.new_length + catch_all_count_ * unwind_.length > 65535 || stack_size() > 65535)
    return Reason::kMethodTooLarge;
  uint32_t huge = probes_.huge_method_bytes;
  if (huge != 0 && code_.code.size <= huge && plan_.new_length + catch_all_count_ * unwind_.length > huge) {
    return Reason::kMethodTooHuge;
  }
  return Reason::kRewritten;
}

Reason MethodInjector::write() {
  const Reason reason = write_method();
  if (reason != Reason::kRewritten) return reason;
  if (pool_.failed()) return pool_.failure();
  if (scratch_.body.failed()) return Reason::kNoMemory;
  for (uint32_t i = 0; i < probes_.user_count; i++) {
    counts_.users[i].begun += users_[i].begins;
    counts_.users[i].leaves += users_[i].leaf;
  }
  count_left(Reason::kRewritten);
  counts_.handlers += handlers_.placed;
  counts_.handlers_left_out += handlers_.left_out;
  counts_.caughts += caughts_.placed;
  counts_.caughts_left_out += caughts_.left_out;
  counts_.allocations += facts_.allocations + any([](const OfUser& user) { return user.object_init; });
  counts_.islands += plan_.island_count;
  return Reason::kRewritten;
}

void MethodInjector::count_left(Reason reason) {
  for (uint32_t i = 0; i < probes_.user_count; i++) {
    const Reason why = users_[i].reason == Reason::kRewritten ? reason : users_[i].reason;
    // Excluded methods were counted before.
    if (why != Reason::kRewritten && why != Reason::kExcluded)
      counts_.users[i].left[static_cast<uint32_t>(why)]++;
  }
}

// Checks the code, and marks where probes that any user wants belong.
Reason MethodInjector::scan(const uint32_t* wanted) {
  uint32_t all = 0;
  for (uint32_t i = 0; i < probes_.user_count; i++) all |= wanted[i];
  for (uint32_t i = 0; i < probes_.quiet_body_count; i++) {
    if (!matches(probes_.quiet_bodies[i], view_.name, method_.name, method_.descriptor)) continue;
    all &= ~static_cast<uint32_t>(kProbeArrays | kProbeCalls);
  }
  ScanWish wish{(all & kProbeArrays) != 0, (all & kProbeCalls) ? &calls_ : nullptr};
  Reason reason = scan_code(code_, wish, plan_.marks, &facts_);
  if (reason == Reason::kRewritten) reason = check_handlers(code_, plan_.marks);
  if (reason == Reason::kRewritten && (all & kProbeCaught) != 0)
    reason = mark_caughts(code_, plan_.marks, &caughts_);
  return reason;
}

// Reduces a user's wanted probes to those that apply here.
void MethodInjector::decide_for(uint32_t user, uint32_t wanted) {
  OfUser& to = users_[user];
  const bool is_leaf = facts_.leaf && (method_.access & kAccSynchronized) == 0;
  const bool is_constructor = method_.name.equals("<init>", 6);
  if (is_leaf && probes_.users[user].leaves_out_leaves) {
    to.reason = Reason::kCallsNothing;
    return;
  }
  if (probes_.users[user].leaves_out_intrinsics && is_intrinsic(view_, method_)) {
    to.reason = Reason::kIntrinsic;
    return;
  }
  to.leaf = (wanted & kProbeLeaf) && (!(wanted & kProbeBegin) || is_leaf);
  to.begins = (wanted & kProbeBegin) && !to.leaf;
  if (to.begins && changes_thread(view_, method_)) {
    to = OfUser();
    to.reason = Reason::kChangesThread;
    return;
  }
  to.ends = to.begins && (wanted & kProbeEnd);
  to.unwinds = to.begins && (wanted & kProbeUnwind);
  to.handles = to.begins && (wanted & kProbeHandler);
  to.passes = to.begins && (wanted & kProbeArguments);
  to.returns = to.ends && (wanted & kProbeResult);
  to.object_init = (wanted & kProbeObjectInit) && is_constructor && view_.name.equals("java/lang/Object", 16);
  to.allocates = (wanted & (kProbeArrays | kProbeCalls)) && facts_.allocations != 0;
  to.makes = (wanted & kProbeMade) && is_constructor && view_.name.equals("java/lang/Throwable", 19);
  to.catches = (wanted & kProbeCaught) && caughts_.placed != 0;
  if (!to.has_any()) to.reason = Reason::kUnchanged;
}

// The reason of the first user that has one of its own.
Reason MethodInjector::why_none() const {
  for (uint32_t i = 0; i < probes_.user_count; i++) {
    const Reason why = users_[i].reason;
    if (why != Reason::kRewritten && why != Reason::kUnchanged && why != Reason::kExcluded) return why;
  }
  return Reason::kUnchanged;
}

Reason MethodInjector::decide(const uint32_t* wanted) {
  Reason reason = scan(wanted);
  if (reason != Reason::kRewritten) return reason;
  for (uint32_t i = 0; i < probes_.user_count; i++) {
    if (wanted[i] != 0) decide_for(i, wanted[i]);
  }
  const auto has_any = [](const OfUser& user) { return user.has_any(); };
  if (!any(has_any)) return why_none();
  reason = find_stack_map();
  if (reason != Reason::kRewritten) return reason;
  if (any([](const OfUser& user) { return user.unwinds; })) find_constructor(wanted);
  if (!any(has_any)) return why_none();
  for (uint32_t i = 0; i < probes_.user_count; i++) {
    if (users_[i].begins) users_[i].call = code_.max_locals + 2 * calls_kept_++;
  }
  reason = find_values();
  if (reason != Reason::kRewritten) return reason;
  if (new_locals() > 65535) return Reason::kTooManyLocals;
  return any([](const OfUser& user) { return user.handles; }) ? mark_handlers(code_, plan_.marks, &handlers_)
                                                              : Reason::kRewritten;
}

// The result has the variable after those of begin().
Reason MethodInjector::find_values() {
  Reason reason = Reason::kRewritten;
  if (any([](const OfUser& user) { return user.passes; })) reason = find_arguments(method_, code_, &values_);
  if (reason == Reason::kRewritten && any([](const OfUser& user) { return user.returns; }))
    reason = find_result(method_, code_, code_.max_locals + 2 * calls_kept_, &values_);
  return reason;
}

uint32_t MethodInjector::new_locals() const {
  return code_.max_locals + 2 * (calls_kept_ + (values_.stores_result ? 1 : 0));
}

// Sets *call to the position of the only call of super() or this() in a constructor, on the `this` of local
// variable 0: before it, `this` has no type that a common handler could have. Counts `new` against <init> in
// code order; false unless all frames of the StackMapTable confirm the result.
static bool find_super_call(const MethodContext& context, Span stack_map, Scratch& scratch, uint32_t* call) {
  const uint8_t* bytes = context.code.code.data;
  uint32_t length = context.code.code.size;
  uint32_t unfinished = 0;  // objects made but not yet initialised
  uint32_t found = length;
  for (uint32_t pc = 0; pc < length && found == length; pc += instruction_length(bytes, length, pc)) {
    if (bytes[pc] == kOpNew) unfinished++;
    if (stores_local_0(bytes + pc)) return false;
    if (bytes[pc] != kOpInvokespecial) continue;
    MemberRef ref;
    if (!context.view.pool.member(load_be16(bytes + pc + 1), &ref)) return false;
    if (!ref.name.equals("<init>", 6)) continue;
    if (unfinished != 0) {
      unfinished--;
    } else if (ref.owner.equals(context.view.name) || ref.owner.equals(context.view.super_name)) {
      found = pc;
    } else {
      return false;
    }
  }
  if (found == length) return false;
  *call = found;
  FrameReader reader;
  Reason reason = reader.begin(context, stack_map, scratch.side_locals, scratch.side_stack);
  while (reason == Reason::kRewritten && reader.left() != 0) {
    reason = reader.next();
    if (reason != Reason::kRewritten) break;
    const Frame& frame = reader.frame();
    bool before = frame.local_count != 0 && static_cast<uint8_t>(frame.locals[0]) == kTypeUninitializedThis;
    if (before != (frame.pc <= found)) return false;
  }
  return reason == Reason::kRewritten;
}

// Finds the call of super() in a constructor. Where that fails, users that catch all get no probes.
void MethodInjector::find_constructor(const uint32_t* wanted) {
  if (!method_.name.equals("<init>", 6) || view_.super_class == 0) return;
  MethodContext context{view_, method_, code_, plan_.marks};
  uint32_t call;
  if (find_super_call(context, stack_map_, scratch_, &call)) {
    plan_.super_call = call + 1;
    MemberRef callee;
    if (!view_.pool.member(load_be16(code_.code.data + call + 1), &callee) ||
        callee.owner.equals("java/lang/Object", 16))
      return;
    for (uint32_t i = 0; i < probes_.user_count; i++) {
      users_[i].constructs = users_[i].unwinds && (wanted[i] & kProbeConstructed) != 0;
      if (users_[i].constructs) plan_.marks[call] |= kMarkAfter;
    }
    return;
  }
  for (uint32_t i = 0; i < probes_.user_count; i++) {
    if (!users_[i].unwinds) continue;
    users_[i] = OfUser();
    users_[i].reason = Reason::kConstructor;
  }
}

Reason MethodInjector::find_stack_map() {
  Cursor in{view_.file.data, code_.attributes, code_.end};
  for (uint32_t i = 0; i < code_.attribute_count; i++) {
    Word word = view_.pool.word(in.u2());
    uint32_t size = in.u4();
    if (word == Word::kNone || word == Word::kCode) return Reason::kUnknownAttribute;
    if (word == Word::kStackMapTable) {
      if (has_stack_map_ || size < 2) return Reason::kMalformedFrames;
      has_stack_map_ = true;
      stack_map_ = {view_.file.data + in.at, size};
    }
    in.skip(size);
  }
  return Reason::kRewritten;
}

void MethodInjector::build_begin(uint32_t user) {
  const OfUser& of = users_[user];
  if (!of.begins && !of.leaf && !of.catches) return;
  MethodSite site{view_.name,   method_.name, method_.descriptor, method_.access,
                  view_.loader, &view_,       &method_,           &view_.class_word};
  int32_t id = probes_.method_id != nullptr ? probes_.method_id(probes_.context, site, user)
                                            : static_cast<int32_t>(counts_.methods);
  const auto constant_of = [this](int32_t value) {
    return value > 32767 || value < -32768 ? pool_.integer(value) : static_cast<uint16_t>(0);
  };
  const uint16_t constant = constant_of(id);
  if (of.begins || of.leaf) {
    plan_.prologue.push(of.constructs ? ~id : id, of.constructs ? constant_of(~id) : constant);
    if (of.passes) {
      push_reference(values_.self, &plan_.prologue);
      push_reference(values_.first, &plan_.prologue);
      push_reference(values_.last, &plan_.prologue);
      push_value(values_.first_value, &plan_.prologue);
      push_value(values_.last_value, &plan_.prologue);
    }
    const Target target = of.leaf ? kTargetLeaf : of.passes ? kTargetArguments : kTargetBegin;
    plan_.prologue.op_u2(kOpInvokestatic, constants_.method(user, target));
  }
  if (of.begins) plan_.prologue.local(kOpLstore, of.call);
  if (of.handles && handlers_.placed != 0) {
    plan_.handler.local(kOpLload, of.call);
    plan_.handler.push(id, constant);
    plan_.handler.op_u2(kOpInvokestatic, constants_.method(user, kTargetHandler));
  }
  if (of.catches) {
    plan_.caught.op(kOpDup);
    plan_.caught.push(id, constant);
    plan_.caught.op_u2(kOpInvokestatic, constants_.method(user, kTargetCaught));
  }
}

void MethodInjector::build_end(uint32_t user) {
  const OfUser& of = users_[user];
  if (of.ends) {
    plan_.ends.local(kOpLload, of.call);
    if (of.returns) {
      push_reference(values_.result, &plan_.ends);
      push_value(values_.result, &plan_.ends);
    }
    plan_.ends.op_u2(kOpInvokestatic, constants_.method(user, of.returns ? kTargetResult : kTargetEnd));
  }
  if (of.makes) {
    plan_.ends.op(kOpAload0);
    plan_.ends.op_u2(kOpInvokestatic, constants_.method(user, kTargetMade));
  }
  if (of.constructs) {
    plan_.constructed.local(kOpLload, of.call);
    plan_.constructed.op_u2(kOpInvokestatic, constants_.method(user, kTargetConstructed));
    plan_.constructed.local(kOpLstore, of.call);
  }
  if (of.unwinds) {
    unwind_.local(kOpLload, of.call);
    unwind_.op_u2(kOpInvokestatic, constants_.method(user, kTargetUnwind));
  }
}

void MethodInjector::build_allocations(uint32_t user) {
  if (users_[user].object_init) {
    plan_.prologue.op(kOpAload0);
    plan_.prologue.op_u2(kOpInvokestatic, constants_.method(user, kTargetObject));
  }
  if (users_[user].allocates) {
    plan_.arrays[plan_.array_count++] = constants_.method(user, kTargetArrays);
    plan_.object.op(kOpDup);
    plan_.object.op_u2(kOpInvokestatic, constants_.method(user, kTargetObject));
  }
}

// A later user's begin() may throw a StackOverflowError, which unwinds the calls that have begun. So the
// variables of later users, which the catch-all handler reads, are 0 before.
void MethodInjector::build_begins() {
  uint32_t first = 0;
  while (first < probes_.user_count && !users_[first].unwinds) first++;
  for (uint32_t i = first + 1; i < probes_.user_count; i++) {
    if (!users_[i].begins) continue;
    plan_.prologue.op(kOpLconst0);
    plan_.prologue.local(kOpLstore, users_[i].call);
  }
  for (uint32_t i = 0; i < probes_.user_count; i++) {
    build_begin(i);
    if (i == first) unwinds_from_ = plan_.prologue.length;
  }
}

void MethodInjector::build_probes() {
  build_begins();
  const MethodValues::Local& result = values_.result;
  if (values_.stores_result)
    plan_.ends.local(static_cast<uint8_t>(result.load + (kOpIstore - kOpIload)), result.index);
  for (uint32_t i = probes_.user_count; i-- != 0;) build_end(i);
  if (values_.stores_result) plan_.ends.local(result.load, result.index);
  if (unwind_.length != 0) unwind_.op(kOpAthrow);
  for (uint32_t i = 0; i < probes_.user_count; i++) build_allocations(i);
}

// True: an instruction other than loads of constants and local variables, so it may throw.
static bool may_throw(const CodeView& code, uint32_t from, uint32_t to) {
  for (uint32_t pc = from; pc < to; pc += instruction_length(code.code.data, code.code.size, pc)) {
    uint8_t op = code.code.data[pc];
    if (op > kOpAload3 || (op >= kOpLdc && op < 21)) return true;
  }
  return false;
}

// Plans the catch-all handlers after the code: one, or in a constructor one on each side of the super() call.
// The call itself cannot be covered: no frame is valid for `this` before and after it, and HotSpot's verifier
// checks both. If it fails, the caller's handler or catch-all restores the state, or begin()
// and constructed() tell that.
Reason MethodInjector::plan_catch_all() {
  if (unwind_.length == 0) return Reason::kRewritten;
  uint32_t end = plan_.new_length;
  uint32_t start = unwinds_from_;
  uint16_t throwable = constants_.throwable();
  auto add = [&](uint32_t from, uint32_t to, bool before_super) {
    if (from >= to) return;
    uint32_t handler = end + catch_all_count_ * unwind_.length;
    handler_frames_[catch_all_count_] = {handler, before_super, throwable};
    catch_alls_[catch_all_count_++] = {from, to, handler};
  };
  if (plan_.super_call != 0) {
    // An island before the call could have the frame of either side.
    if (plan_.island_count != 0) return Reason::kConstructor;
    uint32_t call = plan_.super_call - 1;
    add(plan_.instruction(call) + 3 + plan_.constructed.length, end, false);
    if (start != plan_.prologue.length || may_throw(code_, 0, call)) add(start, plan_.label(call), true);
  } else {
    add(start, end, false);
  }
  return Reason::kRewritten;
}

uint32_t MethodInjector::stack_size() const {
  uint32_t extra = facts_.allocations != 0 ? 2 : 0;
  uint32_t least = calls_kept_ != 0 ? 2 : 1;
  if (plan_.ends.length != 0 && extra == 0) extra = 1;
  if (any([](const OfUser& user) { return user.ends; })) extra = 2;
  if (any([](const OfUser& user) { return user.returns; })) extra = 5;
  if (plan_.handler.length != 0 && extra < 3) extra = 3;
  if (unwind_.length != 0 || plan_.caught.length != 0) least = 3;
  if (any([](const OfUser& user) { return user.passes; })) least = 8;
  uint32_t size = code_.max_stack + extra;
  return size > least ? size : least;
}

Reason MethodInjector::write_method() {
  GrowBuffer& body = scratch_.body;
  uint32_t length = plan_.new_length + catch_all_count_ * unwind_.length;
  body.put(view_.file.data + method_.begin, method_.code_begin + 2 - method_.begin);
  size_t size_at = body.size();
  body.put_u4(0);
  body.put_u2(stack_size());
  body.put_u2(new_locals());
  body.put_u4(length);
  uint8_t* out = body.append(length);
  if (out == nullptr) return Reason::kNoMemory;
  plan_.emit(out);
  for (uint32_t i = 0; i < catch_all_count_; i++) {
    std::memcpy(out + plan_.new_length + i * unwind_.length, unwind_.bytes, unwind_.length);
  }
  if (!write_handlers(plan_, catch_alls_, catch_all_count_, body)) return Reason::kTooComplex;
  Reason reason = write_attributes();
  if (reason != Reason::kRewritten) return reason;
  body.set_u4(size_at, static_cast<uint32_t>(body.size() - size_at - 4));
  body.put(view_.file.data + method_.code_end, method_.end - method_.code_end);
  return Reason::kRewritten;
}

Reason MethodInjector::write_attributes() {
  GrowBuffer& body = scratch_.body;
  size_t count_at = body.size();
  body.put_u2(code_.attribute_count);
  Cursor in{view_.file.data, code_.attributes, code_.end};
  for (uint32_t i = 0; i < code_.attribute_count; i++) {
    Reason reason = write_attribute(in);
    if (reason != Reason::kRewritten) return reason;
  }
  // If the method needed no table before, one for the catch-all handlers is complete. In version 50 a method
  // with jumps and without a table is verified by type inference, and stays so.
  bool complete = !facts_.has_flow && code_.handler_count == 0;
  if (has_stack_map_ || catch_all_count_ == 0 || view_.major < 50 || (view_.major == 50 && !complete)) {
    return Reason::kRewritten;
  }
  if (code_.attribute_count == 65535) return Reason::kUnknownAttribute;
  body.put_u2(constants_.stack_map_table());
  body.set_u2(count_at, code_.attribute_count + 1);
  return write_frames();
}

Reason MethodInjector::write_frames() {
  GrowBuffer& body = scratch_.body;
  size_t size_at = body.size();
  body.put_u4(0);
  MethodContext context{view_, method_, code_, plan_.marks};
  FrameWish wish{calls_kept_, code_.max_locals, handler_frames_, catch_all_count_};
  uint32_t written = 0;
  Reason reason = write_stack_map(context, stack_map_, plan_, wish, pool_, scratch_, body, &written);
  body.set_u4(size_at, static_cast<uint32_t>(body.size() - size_at - 4));
  return reason;
}

Reason MethodInjector::write_attribute(Cursor& in) {
  GrowBuffer& body = scratch_.body;
  uint32_t name = in.u2();
  uint32_t size = in.u4();
  Span content{view_.file.data + in.at, size};
  in.skip(size);
  body.put_u2(name);
  Word word = view_.pool.word(name);
  if (word == Word::kStackMapTable) return write_frames();
  body.put_u4(size);
  switch (word) {
    case Word::kLineNumberTable:
      return write_line_numbers(plan_, content, body);
    case Word::kLocalVariableTable:
    case Word::kLocalVariableTypeTable:
      return write_local_variables(plan_, content, body);
    case Word::kTypeAnnotations:
      return write_type_annotations(plan_, content, body);
    default:
      return Reason::kUnknownAttribute;
  }
}

}  // namespace hprof
