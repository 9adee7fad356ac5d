// The mark by which the end of what was freed is seen.
#include "plugins/jvmpi/last_freed.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "plugins/jvmpi/dump_bytes.h"
#include "tests/unit/jvmpi/mock_bridge.h"
#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::jvmpi;

namespace {

// A VM with the second environment, which tells of the tagged object when the test says so.
struct Marked {
  static Marked* one;
  static jint JNICALL get_env(JavaVM*, void** env, jint) {
    *env = &one->other;
    return JNI_OK;
  }
  static jvmtiError JNICALL add(jvmtiEnv*, const jvmtiCapabilities*) { return JVMTI_ERROR_NONE; }
  static jvmtiError JNICALL set_storage(jvmtiEnv*, const void* data) {
    one->storage = const_cast<void*>(data);
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL get_storage(jvmtiEnv*, void** data) {
    *data = one->storage;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL set_callbacks(jvmtiEnv*, const jvmtiEventCallbacks* callbacks, jint) {
    one->callbacks = callbacks != nullptr ? *callbacks : jvmtiEventCallbacks{};
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL set_tag(jvmtiEnv*, jobject, jlong tag) {
    one->tag = tag;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL collect_garbage(jvmtiEnv*) {
    const std::string order = one->orders.empty() ? "none" : one->orders.front();
    if (!one->orders.empty()) one->orders.erase(one->orders.begin());
    if (order == "none") return JVMTI_ERROR_NONE;
    one->rounds++;
    one->callbacks.GarbageCollectionFinish(&one->other);
    for (const char who : order) {
      if (who == 'b') one->marks->freed(one->tag);
      if (who == 'o') one->callbacks.ObjectFree(&one->other, one->tag);
    }
    return JVMTI_ERROR_NONE;
  }
  static jbyteArray JNICALL new_array(JNIEnv*, jsize) { return reinterpret_cast<jbyteArray>(&one->storage); }

  Marked() : ids(mock.bridge().vm), marked(mock.bridge().vm, &ids) {
    one = this;
    marks = &marked;
    Vm& vm = mock.bridge().vm;
    functions = *vm.jvmti->functions;
    functions.AddCapabilities = &add;
    functions.SetEnvironmentLocalStorage = &set_storage;
    functions.GetEnvironmentLocalStorage = &get_storage;
    functions.SetEventCallbacks = &set_callbacks;
    functions.SetTag = &set_tag;
    functions.ForceGarbageCollection = &collect_garbage;
    other.functions = own.functions = &functions;
    invoke = *vm.invoke;
    invoke.GetEnv = &get_env;
    vm.invoke = &invoke;
    vm.jvmti = &own;
    jni_functions = *mock.jni->functions;
    jni_functions.NewByteArray = &new_array;
    jni.functions = &jni_functions;
    mock.host.on_pause = [this](uint64_t) { pauses++; };
    marked.open();
  }
  ~Marked() { marked.close(); }

  MockBridge mock;
  jvmtiInterface_1_ functions;
  JNIInvokeInterface_ invoke;
  JNINativeInterface_ jni_functions;
  jvmtiEnv own, other;
  JNIEnv jni;
  jvmtiEventCallbacks callbacks = {};
  void* storage = nullptr;
  jlong tag = 0;
  // Of each collection, who tells of the mark: "bo", the bridge's environment and then the other; "none": the
  // VM collects nothing.
  std::vector<std::string> orders;
  int rounds = 0, pauses = 0;
  Ids ids;
  LastFreed marked;
  LastFreed* marks;
};

Marked* Marked::one;

}  // namespace

TEST_CASE("one collection is enough when the mark is told in order") {
  Marked vm;
  vm.orders = {"bo"};
  vm.marked.collect(&vm.jni);
  CHECK(vm.rounds == 1);
  CHECK(vm.pauses == 0);
}

TEST_CASE("a mark that is told the other way round proves nothing") {
  Marked vm;
  vm.orders = {"ob", "bo", "bo"};
  vm.marked.collect(&vm.jni);
  CHECK(vm.rounds == 2);
  vm.orders = {"ob", "ob", "ob", "bo"};
  vm.marked.collect(&vm.jni);
  CHECK(vm.rounds == 5);
}

TEST_CASE("the wait for a mark has an end, and is left out where nothing is collected") {
  Marked vm;
  vm.marked.collect(&vm.jni);
  CHECK(vm.pauses == 0);
  vm.orders = {"b"};
  vm.marked.collect(&vm.jni);
  CHECK(vm.pauses == 10000);
}

TEST_CASE("without the second environment there is a collection and no mark") {
  Marked vm;
  vm.marked.close();
  vm.orders = {"bo", "bo"};
  vm.callbacks.GarbageCollectionFinish = [](jvmtiEnv*) {};
  vm.callbacks.ObjectFree = [](jvmtiEnv*, jlong) {};
  vm.marked.collect(&vm.jni);
  CHECK(vm.orders.size() == 1);
  CHECK(vm.tag == 0);
}

// The bytes of a heap dump of JVMPI.
TEST_CASE("numbers are big-endian, and bytes grow at both ends, up to their room") {
  MockHost host;
  Services services(host.host());
  DumpBytes bytes(services);
  REQUIRE(bytes.open(1000));
  const uint64_t later = bytes.append(4);
  bytes.number(0x0102, 2);
  bytes.prepend("head", 4);
  bytes.put_number(later, 0x0a0b0c0d, 4);
  CHECK(std::string(bytes.begin(), bytes.end()) == "head\x0a\x0b\x0c\x0d\x01\x02");
  CHECK_FALSE(bytes.failed());
  bytes.append(1000);
  CHECK(bytes.failed());
  CHECK(bytes.size() == 10);
}
