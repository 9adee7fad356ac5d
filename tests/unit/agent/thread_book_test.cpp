// The book of threads against a VM that says what the test wants.
#include "core/agent/vm/thread_book.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "core/base/counters.h"
#include "tests/unit/support/fake_vm.h"

using namespace hprof;

namespace {

struct Book {
  FakeVm jvm;
  MemoryAccount memory;
  LossCounters losses;
  Model model;
  ThreadBook book;
  std::vector<std::string> told;

  explicit Book(uint64_t budget = 0) {
    memory.open(
        {platform::allocate_zeroed, platform::deallocate, platform::reserve_lazy, platform::release_lazy},
        budget);
    losses.open();
    REQUIRE(model.create(memory, ModelLimits::standard(), losses));
    book.create(jvm.jvmti(), &memory, &model, &announce, this);
  }
  ~Book() {
    book.destroy(jvm.jni());
    model.destroy();
    CHECK(memory.used() == 0);
    CHECK(jvm.weak_refs() == 0);
    CHECK(jvm.global_refs == 0);
    CHECK(jvm.blocks == 0);
  }
  static void announce(void* self, uint32_t serial, ThreadChange change) {
    const char* const words[] = {"start ", "renamed ", "end "};
    static_cast<Book*>(self)->told.push_back(words[static_cast<int>(change)] + std::to_string(serial));
  }
  ThreadRecord* start(FakeVm::Thread& thread) {
    ThreadRecord* record = nullptr;
    jvm.on(thread, [&] {
      record = book.started(jvm.jni(), thread.ref(), thread.is_virtual ? HPROF_THREAD_VIRTUAL : 0);
    });
    return record;
  }
  void end(FakeVm::Thread& thread) {
    jvm.on(thread, [&] { book.ended(jvm.jni(), thread.ref()); });
    jvm.end(thread);
  }
  ThreadRecord* current(FakeVm::Thread& thread) {
    ThreadRecord* record = nullptr;
    jvm.on(thread, [&] { record = book.current(jvm.jni(), thread.ref()); });
    return record;
  }
  bool learn_name(FakeVm::Thread& thread, uint32_t serial) {
    return book.learn_name(jvm.jni(), thread.ref(), serial);
  }
  std::string name(uint32_t serial) {
    ThreadInfo known;
    REQUIRE(model.threads().get(ThreadSerial{serial}, &known));
    const Str text = model.text(StringId{known.name});
    return std::string(text.data, text.size);
  }
  std::vector<uint32_t> all() {
    std::vector<uint32_t> serials;
    book.each(jvm.jni(), 0, &serials, [](void* list, hprof_thread* thread, void*) -> uint32_t {
      static_cast<std::vector<uint32_t>*>(list)->push_back(thread->serial);
      return 1;
    });
    return serials;
  }
};

std::string text(uint32_t serial, bool started) {
  return (started ? "start " : "end ") + std::to_string(serial);
}

}  // namespace

TEST_CASE("a thread is told once at its start and once at its end") {
  Book b;
  FakeVm::Thread& thread = b.jvm.add_thread("worker");
  ThreadRecord* record = b.start(thread);
  REQUIRE(record != nullptr);
  const uint32_t serial = record->serial;
  CHECK(b.start(thread) == record);
  CHECK(b.current(thread) == record);
  CHECK(b.book.find(thread.ref()) == record);
  CHECK(record->os_id != 0);
  ThreadInfo known;
  REQUIRE(b.model.threads().get(ThreadSerial{serial}, &known));
  CHECK(b.model.text(StringId{known.name}) == "worker");
  CHECK(b.model.text(StringId{known.group}) == "main");
  CHECK(b.model.text(StringId{known.parent_group}) == "system");
  CHECK(b.book.live() == 1);
  CHECK(b.told == std::vector<std::string>{text(serial, true)});
  b.end(thread);
  b.end(thread);
  CHECK(b.told == std::vector<std::string>{text(serial, true), text(serial, false)});
  CHECK(b.book.live() == 0);
  CHECK_FALSE(b.book.has_records());
}

TEST_CASE("a thread whose end was told gets no other record") {
  Book b;
  FakeVm::Thread& thread = b.jvm.add_thread("worker");
  b.start(thread);
  b.jvm.on(thread, [&] { b.book.ended(b.jvm.jni(), thread.ref()); });
  CHECK(b.current(thread) == nullptr);
  CHECK(b.start(thread) == nullptr);
  CHECK(b.book.find(thread.ref()) == nullptr);
  b.jvm.on(thread, [&] { CHECK_FALSE(b.book.is_agent()); });
  CHECK(b.told.size() == 2);
}

TEST_CASE("a thread has the name it had last: of its end, or of a report") {
  Book b;
  FakeVm::Thread& thread = b.jvm.add_thread("Thread-3");
  const uint32_t serial = b.start(thread)->serial;
  CHECK_FALSE(b.learn_name(thread, serial));
  thread.text = "worker-6";
  CHECK(b.learn_name(thread, serial));
  CHECK(b.name(serial) == "worker-6");
  CHECK_FALSE(b.learn_name(thread, serial));
  thread.text = "worker-7";
  b.end(thread);
  CHECK(b.name(serial) == "worker-7");
  CHECK(b.told == std::vector<std::string>{text(serial, true), "renamed " + std::to_string(serial),
                                           text(serial, false)});
  thread.text = "too late";
  CHECK_FALSE(b.learn_name(thread, serial));
}

TEST_CASE("threads have the ids of Java and of the system, virtual ones Java's alone") {
  Book b;
  const auto ids = [&](ThreadRecord* record) {
    ThreadInfo known;
    REQUIRE(b.model.threads().get(ThreadSerial{record->serial}, &known));
    return std::to_string(known.java_id) + (known.os_id == record->os_id ? " its own" : " another") +
           ((known.flags & HPROF_THREAD_DAEMON) != 0 ? " daemon" : "");
  };
  FakeVm::Thread& early = b.jvm.add_thread("early");
  early.fields["tid"] = 4;
  b.jvm.reflects = true;
  CHECK(ids(b.start(early)) == "0 its own");  // the field was not found yet
  b.book.find_ids(b.jvm.jni());
  FakeVm::Thread& thread = b.jvm.add_thread("worker");
  thread.fields["tid"] = 5;
  thread.is_daemon = true;
  CHECK(ids(b.start(thread)) == "5 its own daemon");
  FakeVm::Thread& of_vm = b.jvm.add_thread("", true);
  of_vm.fields["tid"] = 6;
  CHECK(ids(b.start(of_vm)) == "6 its own");
  CHECK(b.start(of_vm)->os_id == 0);
}

TEST_CASE("a VM without the field has no ids for Java") {
  Book b;
  b.jvm.reflects = true;
  b.jvm.missing_fields.insert("tid");
  b.book.find_ids(b.jvm.jni());
  FakeVm::Thread& thread = b.jvm.add_thread("worker");
  thread.fields["tid"] = 5;
  ThreadInfo known;
  REQUIRE(b.model.threads().get(ThreadSerial{b.start(thread)->serial}, &known));
  CHECK(known.java_id == 0);
}

TEST_CASE("new threads are asked for their names twice") {
  Book b;
  FakeVm::Thread& thread = b.jvm.add_thread("Thread-1");
  const std::string renamed = "renamed " + std::to_string(b.start(thread)->serial);
  const auto learns = [&](const char* name) {
    b.told.clear();
    thread.text = name;
    b.book.learn_new_names(b.jvm.jni());
    return b.told == std::vector<std::string>{renamed};
  };
  CHECK(learns("a"));
  CHECK(learns("b"));
  CHECK_FALSE(learns("c"));
  CHECK(b.name(b.current(thread)->serial) == "b");
  FakeVm::Thread& later = b.jvm.add_thread("Thread-2");
  b.start(later);
  CHECK_FALSE(learns("d"));
}

TEST_CASE("a virtual thread keeps its first name, and with hidden names all do") {
  Book b;
  FakeVm::Thread& of_vm = b.jvm.add_thread("", true);
  FakeVm::Thread& thread = b.jvm.add_thread("worker");
  b.start(of_vm);
  of_vm.text = "renamed";
  b.end(of_vm);
  b.book.hide_names();
  b.start(thread);
  thread.text = "secret";
  b.end(thread);
  CHECK(b.told.size() == 4);
}

TEST_CASE("names that threads give themselves stay within the limit, and each counts once as lost") {
  Book b;
  FakeVm::Thread& thread = b.jvm.add_thread("request");
  const uint32_t serial = b.start(thread)->serial;
  const uint32_t most = ModelLimits::standard().thread_names;
  for (uint32_t i = 0; i < most + 10; i++) {
    thread.text = "request " + std::to_string(i);
    b.learn_name(thread, serial);
  }
  CHECK(b.name(serial) == "request #");
  CHECK_FALSE(b.learn_name(thread, serial));
  CHECK(b.losses.value(Loss::kLostThreadNames) == 1);
}

TEST_CASE("the context of a thread ends with it") {
  Book b;
  FakeVm::Thread& thread = b.jvm.add_thread("worker");
  const uint32_t serial = b.start(thread)->serial;
  hprof_context context = {sizeof context, 0, 1, 2, 3};
  REQUIRE(b.book.contexts.open(b.memory));
  REQUIRE(b.book.contexts.set(serial, context));
  CHECK(b.book.contexts.read(serial, &context));
  b.end(thread);
  CHECK_FALSE(b.book.contexts.read(serial, &context));
}

TEST_CASE("the thread that ends the VM is found once more, by its serial and by who reports") {
  Book b;
  FakeVm::Thread& thread = b.jvm.add_thread("main");
  const uint32_t serial = b.start(thread)->serial;
  b.jvm.on(thread, [&] {
    b.book.ended(b.jvm.jni(), thread.ref());
    b.book.exits(b.jvm.jni(), thread.ref());
  });
  CHECK(b.book.serial_of(thread.ref()) == serial);
  CHECK(b.book.find(thread.ref()) == nullptr);
  CHECK(b.current(thread) == nullptr);
  CHECK(b.all().empty());
  b.book.visit_exiting();
  CHECK(b.all() == std::vector<uint32_t>{serial});
  CHECK(b.told == std::vector<std::string>{text(serial, true), text(serial, false)});
}

TEST_CASE("where the VM gives a thread no storage nothing of it is kept") {
  Book b;
  FakeVm::Thread& thread = b.jvm.add_thread("worker");
  b.jvm.refuses_thread_storage = true;
  CHECK(b.start(thread) == nullptr);
  CHECK(b.told.empty());
  CHECK(b.book.live() == 0);
  CHECK(b.jvm.weak_refs() == 0);
  CHECK(b.all().empty());
  b.jvm.refuses_thread_storage = false;
  CHECK(b.start(thread) != nullptr);
  CHECK(b.told.size() == 1);
}

TEST_CASE("threads that run already are found, once, and visited while they live") {
  Book b;
  std::vector<FakeVm::Thread*> threads;
  for (int i = 0; i < 5; i++) threads.push_back(&b.jvm.add_thread("t" + std::to_string(i)));
  b.jvm.add_thread("v", true);
  b.start(*threads[2]);
  const NativeThreadIds none;
  b.book.enumerate(b.jvm.jni(), none);
  b.book.enumerate(b.jvm.jni(), none);
  CHECK(b.told.size() == 5);
  CHECK(b.book.live() == 5);
  CHECK(b.all().size() == 5);
  const uint32_t gone = b.book.find(threads[3]->ref())->serial;
  b.end(*threads[3]);
  std::vector<uint32_t> left = b.all();
  CHECK(left.size() == 4);
  for (uint32_t serial : left) CHECK(serial != gone);
}

TEST_CASE("threads end while they are visited") {
  Book b;
  std::vector<FakeVm::Thread*> threads;
  for (int i = 0; i < 6; i++) {
    threads.push_back(&b.jvm.add_thread("t" + std::to_string(i)));
    b.start(*threads.back());
  }
  struct Visit {
    Book* book;
    std::vector<FakeVm::Thread*>* threads;
    uint32_t count;
  } visit = {&b, &threads, 0};
  // The one that is visited, and the next two, which were met before it.
  b.book.each(b.jvm.jni(), 0, &visit, [](void* argument, hprof_thread*, void* thread) -> uint32_t {
    auto* v = static_cast<Visit*>(argument);
    if (v->count++ == 0) {
      CHECK(thread == (*v->threads)[5]->ref());
      for (int i : {5, 4, 3}) v->book->end(*(*v->threads)[static_cast<size_t>(i)]);
    }
    return 1;
  });
  CHECK(visit.count == 4);
  CHECK(b.all().size() == 3);
}

TEST_CASE("a visitor stops when it wants to") {
  Book b;
  for (int i = 0; i < 3; i++) b.start(b.jvm.add_thread("t"));
  uint32_t count = 0;
  b.book.each(b.jvm.jni(), 0, &count, [](void* argument, hprof_thread*, void*) -> uint32_t {
    return ++*static_cast<uint32_t*>(argument) < 2 ? 1 : 0;
  });
  CHECK(count == 2);
}

TEST_CASE("virtual threads have records that no visitor sees") {
  Book b;
  FakeVm::Thread& thread = b.jvm.add_thread("v", true);
  ThreadRecord* record = b.start(thread);
  REQUIRE(record != nullptr);
  CHECK(record->is_virtual());
  CHECK(record->os_id == 0);
  CHECK(b.book.live() == 0);
  CHECK(b.all().empty());
  CHECK(b.book.has_records());
  b.end(thread);
  CHECK_FALSE(b.book.has_records());
}

TEST_CASE("a thread of the agent's, of whichever session, is neither told nor visited") {
  Book b;
  FakeVm::Thread& own = b.jvm.add_thread("HPROF control");
  own.group = "system";
  FakeVm::Thread& of_program = b.jvm.add_thread("HPROF control");
  FakeVm::Thread& of_vm = b.jvm.add_thread("Finalizer");
  of_vm.group = "system";
  for (FakeVm::Thread* thread : {&own, &of_program, &of_vm}) REQUIRE(b.start(*thread) != nullptr);
  CHECK(b.book.find(own.ref())->is_agent());
  CHECK_FALSE(b.book.find(of_program.ref())->is_agent());
  CHECK_FALSE(b.book.find(of_vm.ref())->is_agent());
  b.jvm.on(own, [&] { CHECK(b.book.is_agent()); });
  CHECK(b.told.size() == 2);
  CHECK(b.all().size() == 2);
  CHECK(b.jvm.global_refs == 0);
}

TEST_CASE("names are hidden where they may be secrets") {
  Book b;
  b.book.hide_names();
  ThreadRecord* record = b.start(b.jvm.add_thread("password=1234"));
  REQUIRE(record != nullptr);
  ThreadInfo info;
  REQUIRE(b.model.threads().get(ThreadSerial{record->serial}, &info));
  CHECK(b.model.text(StringId{info.name}) == Str("hidden"));
}

TEST_CASE("without memory a thread stays unknown") {
  Book b;
  MemoryAccount full;
  full.open({platform::allocate_zeroed, platform::deallocate, platform::reserve_lazy, platform::release_lazy},
            64);
  ThreadBook book;
  book.create(b.jvm.jvmti(), &full, &b.model, &Book::announce, &b);
  FakeVm::Thread& thread = b.jvm.add_thread("worker");
  b.jvm.on(thread, [&] { CHECK(book.started(b.jvm.jni(), thread.ref(), 0) == nullptr); });
  CHECK(b.told.empty());
  CHECK(thread.storage == nullptr);
  CHECK(full.used() == 0);
}

TEST_CASE("the end of the book takes the records out of the storage of threads that live") {
  Book f;
  FakeVm::Thread &platform_thread = f.jvm.add_thread("main"), &virtual_thread = f.jvm.add_thread("v", true);
  f.start(platform_thread);
  f.start(virtual_thread);
  REQUIRE(platform_thread.storage != nullptr);
  REQUIRE(virtual_thread.storage != nullptr);
  SUBCASE("all") {
    CHECK(f.book.destroy(f.jvm.jni()));
    CHECK(platform_thread.storage == nullptr);
    CHECK(virtual_thread.storage == nullptr);
  }
  SUBCASE("the VM refuses") {
    f.jvm.refuses_thread_storage = true;
    CHECK_FALSE(f.book.destroy(f.jvm.jni()));
  }
}
