// Copies constants and members of a class, and writes the methods with probes anew.
#include "core/modules/bytecode/engine/injector.h"

#include "core/modules/bytecode/engine/method_injector.h"

namespace hprof {

namespace {

class ClassInjector {
 public:
  ClassInjector(const ClassView& view, const ProbeSet& probes, Scratch& scratch, RewriteCounts& counts)
      : probes_(probes),
        view_(view),
        scratch_(scratch),
        counts_(counts),
        pool_(view, scratch),
        constants_(probes, pool_),
        calls_(probes, view.pool, scratch) {}

  Reason run();
  const PoolWriter& pool() const { return pool_; }

 private:
  Reason has_field(const FieldToAdd& field) const;
  Reason copy_fields();
  Reason rewrite_method(const MethodView& method);
  Reason insert(const MethodView& method, const uint32_t* wanted);
  Reason plan(const MethodView& method, const uint32_t* wanted);
  Reason insert_what_fits(const MethodSite& site, const MethodView& method, const uint32_t* wanted);
  uint32_t choose(const MethodSite& site, uint32_t* wanted) const;
  void count_without_code(const MethodSite& site);
  void copy(uint32_t from, uint32_t to) { scratch_.body.put(view_.file.data + from, to - from); }

  const ProbeSet& probes_;
  const ClassView& view_;
  Scratch& scratch_;
  RewriteCounts& counts_;
  PoolWriter pool_;
  TargetConstants constants_;
  CallClassifier calls_;
  bool changed_ = false;
};

// kUnchanged: the field is there already, as the class was rewritten before.
Reason ClassInjector::has_field(const FieldToAdd& field) const {
  const uint32_t count = load_be16(view_.file.data + view_.fields);
  Cursor in{view_.file.data, view_.fields + 2, view_.methods};
  for (uint32_t i = 0; i < count; i++) {
    in.skip(2);
    Span name;
    Span descriptor;
    bool known = view_.pool.utf8(in.u2(), &name) && view_.pool.utf8(in.u2(), &descriptor);
    if (known && name.equals(field.name) && descriptor.equals(field.descriptor)) return Reason::kUnchanged;
    if (!known) return Reason::kMalformedClass;
    for (uint32_t attributes = in.u2(); attributes != 0; attributes--) {
      in.skip(2);
      in.skip(in.u4());
    }
  }
  return Reason::kRewritten;
}

Reason ClassInjector::copy_fields() {
  GrowBuffer& body = scratch_.body;
  const size_t count_at = body.size();
  copy(view_.fields, view_.methods);
  uint32_t count = load_be16(view_.file.data + view_.fields);
  for (uint32_t i = 0; i < probes_.user_count; i++) {
    const FieldToAdd& field = probes_.users[i].field;
    if (field.owner == nullptr || !view_.name.equals(field.owner)) continue;
    const Reason reason = has_field(field);
    if (reason == Reason::kUnchanged) continue;
    if (reason != Reason::kRewritten) return reason;
    if (count == 65535) return Reason::kMalformedClass;
    body.put_u2(field.access);
    body.put_u2(pool_.utf8(span_of(field.name)));
    body.put_u2(pool_.utf8(span_of(field.descriptor)));
    body.put_u2(0);
    body.set_u2(count_at, ++count);
    changed_ = true;
  }
  return Reason::kRewritten;
}

// Sets what each user wants of the method; returns the sum.
uint32_t ClassInjector::choose(const MethodSite& site, uint32_t* wanted) const {
  uint32_t wanted_by_all = 0;
  for (uint32_t i = 0; i < probes_.user_count; i++) {
    wanted[i] = probes_.users[i].probes;
    if (probes_.include_method != nullptr)
      wanted[i] &= probes_.include_method(probes_.context, site, i, wanted[i]);
    wanted_by_all |= wanted[i];
  }
  return wanted_by_all;
}

// Of those whose begin somebody wants.
void ClassInjector::count_without_code(const MethodSite& site) {
  const Reason why = (site.access & kAccNative) != 0 ? Reason::kNative : Reason::kAbstract;
  uint32_t wanted[kMostUsers];
  if (choose(site, wanted) == 0) return;
  for (uint32_t i = 0; i < probes_.user_count; i++) {
    if ((wanted[i] & kProbeBegin) != 0) counts_.users[i].left[static_cast<uint32_t>(why)]++;
  }
}

// kUnchanged: the caller copies the method. A full pool and a lack of memory fail the whole class.
Reason ClassInjector::rewrite_method(const MethodView& method) {
  MethodSite site{view_.name,   method.name, method.descriptor, method.access,
                  view_.loader, &view_,      &method,           &view_.class_word};
  if (method.code_begin == 0) {
    count_without_code(site);
    return Reason::kUnchanged;
  }
  counts_.methods++;
  uint32_t wanted[kMostUsers];
  const uint32_t wanted_by_all = choose(site, wanted);
  for (uint32_t i = 0; i < probes_.user_count; i++) {
    if (wanted[i] == 0) counts_.users[i].left[static_cast<uint32_t>(Reason::kExcluded)]++;
  }
  if (wanted_by_all == 0) return Reason::kUnchanged;
  const size_t begin = scratch_.body.size();
  Reason reason = insert(method, wanted);
  if (is_lack_of_room(reason)) reason = insert_what_fits(site, method, wanted);
  if (reason == Reason::kRewritten) {
    changed_ = true;
    return reason;
  }
  if (pool_.failed()) return pool_.failure();
  if (scratch_.body.failed()) return Reason::kNoMemory;
  scratch_.body.truncate(begin);
  if (reason != Reason::kUnchanged && probes_.left != nullptr) probes_.left(probes_.context, site, reason);
  return Reason::kUnchanged;
}

// Who gets none is counted, except for lack of room.
Reason ClassInjector::insert(const MethodView& method, const uint32_t* wanted) {
  MethodInjector injector(probes_, view_, method, pool_, constants_, calls_, scratch_, counts_);
  Reason reason = injector.plan(wanted);
  if (reason == Reason::kRewritten) reason = injector.write();
  if (reason != Reason::kRewritten && !is_lack_of_room(reason)) injector.count_left(reason);
  return reason;
}

Reason ClassInjector::plan(const MethodView& method, const uint32_t* wanted) {
  return MethodInjector(probes_, view_, method, pool_, constants_, calls_, scratch_, counts_).plan(wanted);
}

// Each user in turn gets its probes, if they fit beside those of the users before it.
Reason ClassInjector::insert_what_fits(const MethodSite& site, const MethodView& method,
                                       const uint32_t* wanted) {
  uint32_t fitting[kMostUsers] = {};
  for (uint32_t i = 0; i < probes_.user_count; i++) {
    fitting[i] = wanted[i];
    const Reason reason = wanted[i] != 0 ? plan(method, fitting) : Reason::kUnchanged;
    if (!is_lack_of_room(reason)) continue;
    fitting[i] = 0;
    counts_.users[i].left[static_cast<uint32_t>(reason)]++;
    if (probes_.left != nullptr) probes_.left(probes_.context, site, reason);
  }
  return insert(method, fitting);
}

Reason ClassInjector::run() {
  if (calls_.failed()) return Reason::kNoMemory;
  scratch_.body.clear();
  copy(view_.pool_end, view_.fields);
  Reason reason = copy_fields();
  if (reason != Reason::kRewritten) return reason;
  copy(view_.methods, view_.methods + 2);
  uint32_t at = view_.methods + 2;
  for (uint32_t count = load_be16(view_.file.data + view_.methods); count != 0; count--) {
    MethodView method;
    if (!parse_method(view_, &at, &method)) return Reason::kMalformedClass;
    reason = rewrite_method(method);
    if (reason == Reason::kUnchanged) {
      copy(method.begin, method.end);
    } else if (reason != Reason::kRewritten) {
      return reason;
    }
  }
  copy(view_.methods_end, view_.file.size);
  if (pool_.failed()) return pool_.failure();
  if (scratch_.body.failed()) return Reason::kNoMemory;
  return changed_ ? Reason::kRewritten : Reason::kUnchanged;
}

void describe(const ClassView& view, const PoolWriter& pool, const Scratch& scratch, RewriteResult* result) {
  std::memcpy(result->head, view.file.data, 8);
  store_be16(result->head + 8, pool.count());
  result->pieces[0] = {nullptr, sizeof result->head};
  result->pieces[1] = {view.file.data + view.pool_begin, view.pool_end - view.pool_begin};
  result->pieces[2] = {scratch.pool_tail.data(), static_cast<uint32_t>(scratch.pool_tail.size())};
  result->pieces[3] = {scratch.body.data(), static_cast<uint32_t>(scratch.body.size())};
  result->size = 0;
  for (const Span& piece : result->pieces) result->size += piece.size;
}

}  // namespace

// Probes in a target would call it again.
static bool has_targets(Span name, const ProbeSet& probes) {
  for (uint32_t i = 0; i < probes.user_count; i++) {
    if (probes.users[i].owner != nullptr && name.equals(probes.users[i].owner)) return true;
  }
  return false;
}

void rewrite(Span file, uint32_t loader, const ProbeSet& probes, Scratch& scratch, RewriteResult* result) {
  *result = RewriteResult();
  ClassView view;
  result->reason = parse_class(file, scratch, &view);
  view.loader = loader;
  if (result->reason != Reason::kRewritten) {
    if (probes.left != nullptr) probes.left(probes.context, {view.name, {}, {}, 0}, result->reason);
    return;
  }
  // The context counts the classes with targets that it is asked for.
  if ((probes.include_class != nullptr && !probes.include_class(probes.context, view.name, view.access)) ||
      has_targets(view.name, probes)) {
    result->reason = Reason::kExcluded;
    return;
  }
  ClassInjector injector(view, probes, scratch, result->counts);
  result->reason = injector.run();
  if (result->reason == Reason::kRewritten) {
    describe(view, injector.pool(), scratch, result);
  } else if (result->reason != Reason::kUnchanged && probes.left != nullptr) {
    probes.left(probes.context, {view.name, {}, {}, view.access}, result->reason);
  }
}

void copy_result(const RewriteResult& result, uint8_t* out) {
  std::memcpy(out, result.head, sizeof result.head);
  out += sizeof result.head;
  for (uint32_t i = 1; i < 4; i++) {
    if (result.pieces[i].size != 0) std::memcpy(out, result.pieces[i].data, result.pieces[i].size);
    out += result.pieces[i].size;
  }
}

}  // namespace hprof
