#include "jvmti_dumper.h"

#include <cstring>

#include <hprof/cpp/byte_order.hpp>
#include <hprof/cpp/jni_exception.hpp>

namespace hprof::dump {

// State of one walk, passed to the callbacks.
struct JvmtiDumper::Walk {
  const Services* services;
  ClassLayouts* classes;
  HeapWriter* writer;
  ThreadList* threads;
  ObjectTraces* traces;
  Progress* progress;
  uint64_t next_id;
  uint64_t first_object;  // smaller ids are classes and loaders
  bool by_address;
  bool takes_addresses;          // the addresses for traces have not been read yet
  hprof_object_offsets offsets;  // by_address
  bool in_classes;               // the walk of the classes
  uint64_t jni_globals;
  uint64_t* lost_objects;
};

// Takes the next id, none of those of threads.
static uint64_t take_id(uint64_t* next) {
  if (ThreadList::is_id(*next)) *next = ThreadList::kEndId;
  return (*next)++;
}

// Called at a safepoint. [heap]
struct JvmtiDumper::Callbacks {
  static Walk& of(void* user) { return *static_cast<Walk*>(user); }

  // The id of an object, assigned when it is first reported; 0: its class is not known, so it is left out.
  static uint64_t id_of(Walk& walk, jlong class_tag, jlong size, jint length, jlong* tag) {
    const uint64_t known = static_cast<uint64_t>(*tag);
    const bool tagged_before =
        known > walk.classes->count() && (known < walk.first_object || ThreadList::is_id(known));
    if (known != 0 && !tagged_before) return known;
    if (!walk.classes->has(static_cast<uint64_t>(class_tag))) {
      count_loss(walk.lost_objects);
      return 0;
    }
    uint64_t id = known;
    if (known == 0 && static_cast<uint64_t>(class_tag) == walk.classes->class_class) {
      id = take_id(&walk.next_id);
      *tag = static_cast<jlong>(id);
      walk.writer->note_bare_class(id);
    } else if (known == 0 && walk.in_classes) {
      id = walk.next_id < kFirstAddress || !walk.by_address ? take_id(&walk.next_id) : 0;
      if (id == 0) {
        count_loss(walk.lost_objects);
        return 0;
      }
      *tag = static_cast<jlong>(id);
    } else if (known == 0 && walk.by_address) {
      id = hprof_object_address(&walk.offsets, tag);
      if (id < kFirstAddress || hprof_has_object_size(&walk.offsets, tag, size) == 0)
        walk.writer->fail("an object's address does not fit its size; hotspot=-object-addresses takes tags");
    } else if (known == 0) {
      id = take_id(&walk.next_id);
      *tag = static_cast<jlong>(id);
    }
    walk.writer->learn_size(id, static_cast<uint32_t>(class_tag), length, static_cast<uint64_t>(size));
    return id;
  }

  // The id of the visited object; 0: none.
  static uint64_t visited(const Walk& walk, const jlong* tag) {
    return *tag != 0 || !walk.by_address ? static_cast<uint64_t>(*tag)
                                         : hprof_object_address(&walk.offsets, tag);
  }

  // Starts the object of that id in the writer; address: where ids are addresses.
  static bool select(Walk& walk, uint64_t id, jlong class_tag, uint64_t address) {
    const bool begins = !walk.writer->is_selected(id);
    const hprof_trace_serial trace = begins ? walk.traces->find(walk.by_address ? address : id) : 0;
    return walk.writer->select(id, static_cast<uint32_t>(class_tag), trace);
  }
  static bool select_visited(Walk& walk, jlong class_tag, const jlong* tag) {
    const uint64_t id = visited(walk, tag);
    return id != 0 &&
           select(walk, id, class_tag, walk.by_address ? hprof_object_address(&walk.offsets, tag) : 0);
  }
  static bool select_referrer(Walk& walk, jlong class_tag, const jlong* referrer_tag, const jlong* tag) {
    const uint64_t address = walk.by_address ? hprof_referrer_address(&walk.offsets, referrer_tag, tag) : 0;
    const uint64_t id = *referrer_tag != 0 ? static_cast<uint64_t>(*referrer_tag) : address;
    return select(walk, id, class_tag, address);
  }

  static void thread_root(Walk& walk, ThreadList::Entry* thread, uint64_t object) {
    if (thread == nullptr || thread->is_rooted) return;
    thread->is_rooted = true;
    hprof_rec_heap_root root = {};
    root.head = {sizeof(root), HPROF_RECORD_HEAP_ROOT, 0};
    root.root = HPROF_ROOT_THREAD_OBJECT;
    root.thread = thread->serial;
    root.object = object;
    root.frame = -1;
    root.trace = thread->trace;
    walk.writer->root(root);
    root.root = HPROF_ROOT_THREAD_BLOCK;
    walk.writer->root(root);
  }

  static void root(Walk& walk, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, uint64_t to) {
    hprof_rec_heap_root root = {};
    root.head = {sizeof(root), HPROF_RECORD_HEAP_ROOT, 0};
    root.root = HPROF_ROOT_UNKNOWN;
    root.object = to;
    root.frame = -1;
    uint64_t thread_tag = 0;
    switch (kind) {
      case JVMTI_HEAP_REFERENCE_JNI_GLOBAL:
        root.root = HPROF_ROOT_JNI_GLOBAL;
        root.reference = ++walk.jni_globals;  // a number: JVMTI does not report it
        break;
      case JVMTI_HEAP_REFERENCE_SYSTEM_CLASS:
        if (!walk.classes->has(to)) break;  // what a class loader keeps: VMs report it as this, too
        root.root = HPROF_ROOT_STICKY_CLASS;
        root.owner = walk.classes->at(to).serial;
        break;
      case JVMTI_HEAP_REFERENCE_MONITOR:
        root.root = HPROF_ROOT_MONITOR_USED;
        break;
      case JVMTI_HEAP_REFERENCE_THREAD:
        if (ThreadList::Entry* thread = walk.threads->find(to)) return thread_root(walk, thread, to);
        break;
      case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
        root.root = HPROF_ROOT_JAVA_FRAME;
        thread_tag = static_cast<uint64_t>(info->stack_local.thread_tag);
        root.frame = info->stack_local.depth;
        break;
      case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
        root.root = HPROF_ROOT_JNI_LOCAL;
        thread_tag = static_cast<uint64_t>(info->jni_local.thread_tag);
        root.frame = info->jni_local.depth;
        break;
      default:
        break;
    }
    if (ThreadList::Entry* thread = walk.threads->find(thread_tag)) {
      thread_root(walk, thread, thread_tag);
      root.thread = thread->serial;
    }
    walk.writer->root(root);
  }

  static void reference(Walk& walk, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info,
                        uint64_t to) {
    HeapWriter& writer = *walk.writer;
    switch (kind) {
      case JVMTI_HEAP_REFERENCE_FIELD:
        writer.instance_reference(static_cast<uint32_t>(info->field.index), to);
        break;
      case JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT:
        writer.element(static_cast<uint32_t>(info->array.index), to);
        break;
      case JVMTI_HEAP_REFERENCE_STATIC_FIELD:
        writer.static_value(static_cast<uint32_t>(info->field.index), HPROF_TYPE_OBJECT, to);
        break;
      case JVMTI_HEAP_REFERENCE_CONSTANT_POOL:
        writer.class_constant(static_cast<uint32_t>(info->constant_pool.index), to);
        break;
      case JVMTI_HEAP_REFERENCE_SUPERCLASS:
        writer.class_link(ClassLink::kSuper, to);
        break;
      case JVMTI_HEAP_REFERENCE_CLASS_LOADER:
        writer.class_link(ClassLink::kLoader, to);
        break;
      case JVMTI_HEAP_REFERENCE_SIGNERS:
        writer.class_link(ClassLink::kSigners, to);
        break;
      case JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN:
        writer.class_link(ClassLink::kDomain, to);
        break;
      default:
        break;
    }
  }

  static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info,
                                   jlong class_tag, jlong referrer_class_tag, jlong size, jlong* tag,
                                   jlong* referrer_tag, jint length, void* user) {
    Walk& walk = of(user);
    if (walk.writer->status() != HPROF_OK) return JVMTI_VISIT_ABORT;
    if (walk.takes_addresses) walk.traces->take_addresses();
    walk.takes_addresses = false;
    const uint64_t to = id_of(walk, class_tag, size, length, tag);
    if (referrer_tag == nullptr) {
      if (to == 0) return 0;
      root(walk, kind, info, to);
      return JVMTI_VISIT_OBJECTS;
    }
    if (select_referrer(walk, referrer_class_tag, referrer_tag, tag)) {
      reference(walk, kind, info, to);
    }
    walk.progress->update(walk.writer->objects(), walk.writer->bytes());
    return to != 0 ? JVMTI_VISIT_OBJECTS : 0;
  }

  // Follows the roots that are classes. What these refer to is only given its id.
  static jint JNICALL on_class_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info,
                                         jlong class_tag, jlong referrer_class_tag, jlong size, jlong* tag,
                                         jlong* referrer_tag, jint length, void* user) {
    Walk& walk = of(user);
    if (walk.writer->status() != HPROF_OK) return JVMTI_VISIT_ABORT;
    if (referrer_tag == nullptr)
      return walk.classes->has(static_cast<uint64_t>(*tag)) ? JVMTI_VISIT_OBJECTS : 0;
    uint64_t to = id_of(walk, class_tag, size, length, tag);
    const bool is_class = static_cast<uint64_t>(class_tag) == walk.classes->class_class;
    if (to != 0 && !is_class && !walk.writer->expect(to, static_cast<uint32_t>(class_tag))) {
      count_loss(walk.lost_objects);
      to = 0;
    }
    if (select_referrer(walk, referrer_class_tag, referrer_tag, tag)) reference(walk, kind, info, to);
    walk.progress->update(walk.writer->objects(), walk.writer->bytes());
    return 0;
  }

  // A jvmtiPrimitiveType is the letter of signatures.
  static jint JNICALL on_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info,
                               jlong class_tag, jlong* tag, jvalue value, jvmtiPrimitiveType primitive,
                               void* user) {
    Walk& walk = of(user);
    if (walk.writer->status() != HPROF_OK) return JVMTI_VISIT_ABORT;
    if (!select_visited(walk, class_tag, tag)) return 0;
    const uint32_t type = type_of(static_cast<char>(primitive));
    const uint32_t index = static_cast<uint32_t>(info->field.index);
    const uint64_t bits = value_bits(&value, width_of(type, sizeof(void*)));
    if (kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD) {
      walk.writer->static_value(index, type, bits);
    } else {
      walk.writer->instance_value(index, type, bits);
    }
    return 0;
  }

  static jint JNICALL on_array(jlong class_tag, jlong size, jlong* tag, jint count,
                               jvmtiPrimitiveType primitive, const void* elements, void* user) {
    Walk& walk = of(user);
    if (walk.writer->status() != HPROF_OK) return JVMTI_VISIT_ABORT;
    if (!select_visited(walk, class_tag, tag)) return 0;
    walk.writer->array_values(type_of(static_cast<char>(primitive)), static_cast<uint32_t>(count),
                              static_cast<uint64_t>(size), elements);
    return 0;
  }
};

hprof_status JvmtiDumper::dump(const Config& config, ObjectTraces* traces, Progress* progress) {
  give_back();
  auto* java_vm = static_cast<JavaVM*>(services_->jvm->java_vm(services_->host));
  auto* jni = static_cast<JNIEnv*>(services_->jvm->jni(services_->host));
  void* environment = nullptr;
  if (jni == nullptr || java_vm->GetEnv(&environment, JVMTI_VERSION_1_2) != JNI_OK) return HPROF_UNSUPPORTED;
  const DumpEnv vm = {services_, static_cast<jvmtiEnv*>(environment), jni};
  jvmtiCapabilities capabilities;
  memset(&capabilities, 0, sizeof(capabilities));
  capabilities.can_tag_objects = 1;
  hprof_status status = HPROF_UNSUPPORTED;
  if (vm.jvmti->AddCapabilities(&capabilities) != JVMTI_ERROR_NONE) {
    services_->log->message(services_->host, "heap dump: this VM does not allow objects to be tagged");
  } else if (!is_open_ && !(is_open_ = classes_.open(services_))) {
    status = HPROF_NO_MEMORY;
  } else {
    status = dump_with(vm, config, traces, progress);
  }
  list_.release(vm);
  tagged_ = vm.jvmti;
  return status;
}

void JvmtiDumper::give_back() {
  if (tagged_ != nullptr) tagged_->DisposeEnvironment();
  tagged_ = nullptr;
}

// Text dumps are read by people: they get small numbers.
bool JvmtiDumper::names_by_address(const DumpEnv& vm, const ObjectTraces& traces,
                                   hprof_object_offsets* offsets) const {
  const DumpServices& s = *services_;
  const uint32_t form = s.settings().heap_form;
  const bool is_text = form == 0 || (form & HPROF_HEAP_AS_FIELDS) != 0;
  offsets->size = sizeof(*offsets);
  const bool by_address = !is_text && s.objects != nullptr &&
                          s.objects->offsets(s.host, vm.jvmti, vm.jni, offsets) != 0 &&
                          (!traces.is_used() || traces.knows_addresses(vm.jvmti, vm.jni));
  const char* detail = by_address ? "heap=dump: objects by address" : "heap=dump: objects by tag";
  s.log->detail(s.host, detail);
  return by_address;
}

// Writes the classes before all objects, as readers of dumps need it.
hprof_status JvmtiDumper::walk_classes(const DumpEnv& vm, const Config& config, Walk& walk) {
  if (!list_.make_frame(vm)) return HPROF_NO_MEMORY;
  jvmtiHeapCallbacks callbacks;
  memset(&callbacks, 0, sizeof(callbacks));
  callbacks.heap_reference_callback = &Callbacks::on_class_reference;
  if (config.wants_fields()) callbacks.primitive_field_callback = &Callbacks::on_field;
  walk.in_classes = true;
  const jvmtiError error = vm.jvmti->FollowReferences(0, nullptr, nullptr, &callbacks, &walk);
  walk.in_classes = false;
  list_.drop_frame(vm);
  if (walk.writer->status() == HPROF_OK && error != JVMTI_ERROR_NONE) return HPROF_FAILED;
  walk.writer->finish_classes(list_.loaders());
  return walk.writer->status();
}

hprof_status JvmtiDumper::walk(const DumpEnv& vm, const Config& config, Walk& walk, bool counting) {
  jvmtiHeapCallbacks callbacks;
  memset(&callbacks, 0, sizeof(callbacks));
  callbacks.heap_reference_callback = &Callbacks::on_reference;
  if (config.wants_fields() && !counting) callbacks.primitive_field_callback = &Callbacks::on_field;
  callbacks.array_primitive_value_callback = &Callbacks::on_array;
  walk.writer->begin(counting);
  const hprof_status status = counting ? hprof_status{HPROF_OK} : walk_classes(vm, config, walk);
  if (status != HPROF_OK) return status;
  walk.threads->begin_walk();
  walk.traces->begin_walk();
  jvmtiError error = vm.jvmti->FollowReferences(0, nullptr, nullptr, &callbacks, &walk);
  if (walk.writer->status() == HPROF_OK && error != JVMTI_ERROR_NONE) return HPROF_FAILED;
  walk.writer->finish(list_.loaders());
  return walk.writer->status();
}

// Tags followed objects like all others, before the walk.
static void tag_followed(const DumpEnv& vm, ObjectTraces* traces, uint64_t* next) {
  traces->each_weak([&](void* weak, uint32_t number) {
    if (number == 0) return;
    jobject object = without_exception(vm.jni, vm.jni->NewLocalRef(static_cast<jweak>(weak)));
    if (object == nullptr) return;
    jlong tag = 0;
    if (vm.jvmti->GetTag(object, &tag) == JVMTI_ERROR_NONE && tag == 0) {
      tag = static_cast<jlong>(take_id(next));
      if (vm.jvmti->SetTag(object, tag) != JVMTI_ERROR_NONE) tag = 0;
    }
    traces->set_tag(static_cast<uint64_t>(tag), number);
    vm.drop(object);
  });
}

// Tags classes, threads and loaders, and writes the definitions that the dump refers to.
hprof_status JvmtiDumper::prepare(const DumpEnv& vm, Walk& walk) {
  const Services& s = *services_;
  hprof_status status = list_.take(vm);
  if (status != HPROF_OK) return status;
  walk.next_id = uint64_t{classes_.count()} + 1;
  if (!walk.threads->take(vm) || !list_.tag_loaders(vm, &walk.next_id, walk.writer)) return HPROF_NO_MEMORY;
  walk.by_address = names_by_address(vm, *walk.traces, &walk.offsets);
  if (walk.traces->is_used()) {
    using How = ObjectTraces::How;
    status = walk.traces->define(walk.by_address ? How::kByAddress : How::kByTag);
    walk.takes_addresses = walk.traces->how() == How::kByAddress;
    if (status == HPROF_OK && walk.traces->how() == How::kByTag) tag_followed(vm, walk.traces, &walk.next_id);
  }
  walk.first_object = walk.next_id;
  if (walk.by_address) walk.writer->set_first_address(kFirstAddress);
  if (status == HPROF_OK) status = list_.define(s);
  if (status == HPROF_OK) status = s.emit->define(s.host, HPROF_RECORD_TRACE, 0);
  if (status == HPROF_OK) status = walk.threads->define();
  list_.release(vm);
  return status;
}

hprof_status JvmtiDumper::write(const DumpEnv& vm, const Config& config, Walk& state) {
  const Services& s = *services_;
  const HeapWriter& writer = *state.writer;
  const bool counts_first = (s.settings().heap_form & HPROF_HEAP_AS_BYTES) == 0;
  hprof_status status = counts_first ? walk(vm, config, state, true) : hprof_status{HPROF_OK};
  if (status != HPROF_OK) return status;
  hprof_rec_heap_dump edge = {{sizeof(edge), HPROF_RECORD_HEAP_DUMP_BEGIN, 0},
                              s.clock->wall_ms(s.host),
                              writer.objects(),
                              writer.bytes()};
  status = s.emit->write(s.host, &edge.head);
  if (status == HPROF_OK) status = walk(vm, config, state, false);
  edge.head.kind = HPROF_RECORD_HEAP_DUMP_END;
  return status == HPROF_OK ? s.emit->write(s.host, &edge.head) : status;
}

hprof_status JvmtiDumper::dump_with(const DumpEnv& vm, const Config& config, ObjectTraces* traces,
                                    Progress* progress) {
  const Services& s = *services_;
  HeapWriter writer;
  ThreadList threads;
  Walk state = {};
  state.services = services_;
  state.classes = &classes_;
  state.writer = &writer;
  state.threads = &threads;
  state.traces = traces;
  state.progress = progress;
  state.lost_objects =
      s.log->loss_counter(s.host, "references of a heap dump: their class was loaded during the dump");
  hprof_status status = HPROF_NO_MEMORY;
  if (writer.open(services_, &classes_, config)) status = prepare(vm, state);
  if (status == HPROF_OK) status = write(vm, config, state);
  traces->set_outcome(writer.objects(), writer.traced());
  if (writer.failure() != nullptr) {
    TextLine<200> line;
    s.log->message(s.host, line.add("heap dump: ").add(writer.failure()).c_str());
  }
  threads.close();
  writer.close();
  list_.free_loaders();
  return status;
}

void JvmtiDumper::close() {
  list_.forget(static_cast<JNIEnv*>(services_->jvm->jni(services_->host)));
  if (is_open_) classes_.close();
  is_open_ = false;
}

}  // namespace hprof::dump
