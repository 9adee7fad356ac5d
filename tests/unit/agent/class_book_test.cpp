#include "core/agent/vm/class_book.h"

#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <string>

#include "core/agent/vm/class_rewriter.h"
#include "tests/unit/agent/environments.h"

using namespace hprof;

namespace {

// A VM with one class, App, of one method, run.
struct Fixture : test::Environments {
  MemoryAccount memory;
  ClassRewriter rewriter;
  LossCounters losses;
  Model model;
  LoaderBook loaders;
  UnloadWatch watch;
  ClassBook book;
  static inline int app, run, replaced;
  static inline bool runs_replaced;
  static inline int names_asked, scans, loaded;

  static jvmtiError JNICALL copy(const char* text, char** to) {
    *to = text != nullptr ? strdup(text) : nullptr;
    return JVMTI_ERROR_NONE;
  }

  Fixture() {
    jni_functions.NewWeakGlobalRef = [](JNIEnv*, jobject of) { return static_cast<jweak>(of); };
    jni_functions.NewLocalRef = [](JNIEnv*, jobject of) { return of; };
    jni_functions.DeleteWeakGlobalRef = [](JNIEnv*, jweak) {};
    jni_functions.DeleteLocalRef = [](JNIEnv*, jobject) {};
    jni_functions.ExceptionCheck = [](JNIEnv*) -> jboolean { return JNI_FALSE; };
    jni_functions.ExceptionClear = [](JNIEnv*) {};
    jni_functions.EnsureLocalCapacity = [](JNIEnv*, jint) { return JNI_OK; };
    jvmti_functions.Deallocate = [](jvmtiEnv*, unsigned char* block) {
      free(block);
      return JVMTI_ERROR_NONE;
    };
    scans = 0;
    loaded = 1;
    jvmti_functions.GetLoadedClasses = [](jvmtiEnv*, jint* count, jclass** classes) {
      scans++;
      *classes = static_cast<jclass*>(malloc(sizeof(jclass)));
      **classes = the_class();
      *count = loaded;
      return JVMTI_ERROR_NONE;
    };
    runs_replaced = false;
    jvmti_functions.GetAllStackTraces = [](jvmtiEnv*, jint, jvmtiStackInfo** stacks, jint* count) {
      struct Answer {  // one block, as the VM's
        jvmtiStackInfo stack;
        jvmtiFrameInfo frame;
      };
      auto* answer = static_cast<Answer*>(calloc(1, sizeof(Answer)));
      answer->frame.method = replaced_method();
      answer->stack.frame_buffer = &answer->frame;
      answer->stack.frame_count = runs_replaced ? 1 : 0;
      *stacks = &answer->stack;
      *count = 1;
      return JVMTI_ERROR_NONE;
    };
    jvmti_functions.GetClassMethods = [](jvmtiEnv*, jclass, jint* count, jmethodID** methods) {
      *methods = static_cast<jmethodID*>(malloc(sizeof(jmethodID)));
      **methods = the_method();
      *count = 1;
      return JVMTI_ERROR_NONE;
    };
    jvmti_functions.GetClassLoader = [](jvmtiEnv*, jclass, jobject* loader) {
      *loader = nullptr;
      return JVMTI_ERROR_NONE;
    };
    jvmti_functions.GetMethodDeclaringClass = [](jvmtiEnv*, jmethodID, jclass* of) {
      *of = the_class();
      return JVMTI_ERROR_NONE;
    };
    jvmti_functions.GetClassSignature = [](jvmtiEnv*, jclass, char** signature, char**) {
      return copy("LApp;", signature);
    };
    jvmti_functions.GetMethodName = [](jvmtiEnv*, jmethodID, char** name, char** signature, char**) {
      names_asked++;
      copy("run", name);
      return copy("()V", signature);
    };
    auto allocate = [](size_t bytes) { return calloc(1, bytes); };
    auto release = [](void* block) { free(block); };
    memory.open({allocate, release, allocate, [](void* block, size_t) { free(block); }}, 0);
    losses.open();
    REQUIRE(model.create(memory, ModelLimits::standard(), losses));
    loaders.create(&jvmti, &memory);
    REQUIRE(watch.open(memory, 100, false));
    REQUIRE(
        book.create(&jvmti, &memory, &model, &loaders, &watch, &losses, &rewriter, {false, false, false}, 0));
    book.keep(&jni);
  }
  ~Fixture() {
    book.destroy(&jni);
    watch.destroy(&jni);
    loaders.destroy(&jni);
    model.destroy();
  }
  static jclass the_class() { return reinterpret_cast<jclass>(&app); }
  static jmethodID the_method() { return reinterpret_cast<jmethodID>(&run); }
  static jmethodID replaced_method() { return reinterpret_cast<jmethodID>(&replaced); }
  std::string frame(JNIEnv* env, bool running = false, jmethodID of = the_method()) {
    const hprof_raw_frame raw = {of, -1};
    const FrameInfo* info = model.frame_info(FrameId{book.frame(env, raw, running)});
    const MethodInfo* method = info != nullptr ? model.method_info(MethodId{info->method}) : nullptr;
    const Str name = method != nullptr ? model.text(StringId{method->name}) : Str("");
    return {name.data, name.size};
  }
};

}  // namespace

TEST_CASE("a thread without a JNIEnv gives no method its name, and the next one does") {
  Fixture f;
  CHECK(f.frame(nullptr) == "unloaded_method");  // nothing is entered yet
  f.book.prepared(&f.jni, Fixture::the_class());
  CHECK(f.frame(nullptr) == "unloaded_method");
  CHECK(f.frame(&f.jni) == "run");
  CHECK(f.frame(nullptr) == "run");
}

TEST_CASE("an unknown method has the loaded classes scanned, but not each time") {
  Fixture f;
  Fixture::loaded = 0;
  f.book.enter_loaded(&f.jni);
  CHECK(f.frame(&f.jni) == "unloaded_method");
  Fixture::loaded = 1;
  // Not again at once: they would be scanned for each such method.
  CHECK(f.frame(&f.jni) == "unloaded_method");
  CHECK(Fixture::scans == 2);
}

TEST_CASE("a class that was loaded unseen after the start is found by its first method") {
  Fixture f;
  Fixture::loaded = 0;
  f.book.enter_loaded(&f.jni);
  Fixture::loaded = 1;
  CHECK(f.frame(&f.jni) == "run");
  CHECK(Fixture::scans == 2);
}

TEST_CASE("a method that still runs though its class was redefined has its name") {
  Fixture f;
  Fixture::runs_replaced = true;
  f.book.enter_loaded(&f.jni);
  SUBCASE("the VM has its id") {}
  SUBCASE("the VM makes its id for the stack that it is on") { f.frame(&f.jni, false, nullptr); }
  CHECK(f.frame(&f.jni, false, Fixture::replaced_method()) == "run");
  CHECK(f.frame(&f.jni) == "run");
}

TEST_CASE("a thread without a JNIEnv gives a class its number, but does not watch it") {
  Fixture f;
  const uint32_t serial = f.book.class_serial(nullptr, Fixture::the_class());
  CHECK(serial != 0);
  CHECK(f.book.class_serial(&f.jni, Fixture::the_class()) == serial);
  CHECK(f.book.dumped_class(nullptr, Fixture::the_class(), 5) == serial);
}

TEST_CASE("a running method is named once until a collection, or a class is redefined") {
  Fixture f;
  const auto asked = [&] {
    const int before = Fixture::names_asked;
    CHECK(f.frame(&f.jni, true) == "run");
    return Fixture::names_asked - before;
  };
  CHECK(asked() == 1);
  CHECK(asked() == 1);  // collections are not followed yet
  f.book.follow_collections(true);
  CHECK(asked() == 1);
  CHECK(asked() == 0);
  f.book.follow_collections(true);
  CHECK(asked() == 0);
  f.book.count_collection();
  CHECK(asked() == 1);
  CHECK(asked() == 0);
  const uint32_t before = *f.book.redefinitions();
  f.book.begin_redefinition();
  CHECK(*f.book.redefinitions() == before + 1);
  CHECK(asked() == 1);
  f.book.count_collection();
  f.book.count_collection();
  CHECK(*f.book.redefinitions() == before + 2);
  CHECK(asked() == 1);
  f.book.follow_collections(false);
  CHECK(asked() == 1);
  f.book.follow_collections(true);  // there may have been collections meanwhile
  CHECK(asked() == 1);
}
