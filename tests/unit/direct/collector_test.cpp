// The collector without a VM: the test calls the native methods as probes do.
#include <doctest/doctest.h>
#include <map>
#include <string>
#include <vector>

#include "plugins/direct/direct_report.h"
#include "tests/unit/support/unit_vm.h"

extern "C" const hprof_module* hprof_module_direct(const hprof_offer*, const char**);

using namespace hprof;
using namespace hprof::direct;

namespace {

constexpr uint64_t kFieldValue = 0x5ca1ab1e;  // of any long of any object

// The numbers of HprofDirect.java.
enum : uint64_t { kFrees = 1, kUnmaps, kAllocates, kReallocates, kReserves, kMakesBuffer, kMaps };

struct DirectVm : UnitVm {
  std::vector<Row> rows, files;
  Thread* thread = nullptr;
  Object object;

  explicit DirectVm(uint32_t version = 17) {
    mock.settings.java_version = version;
    create(hprof_module_direct, "direct", {{"direct", "y"}});
    thread = &add_thread(7, 70, "App.main");
    run(thread);
  }
  ~DirectVm() override {
    run(nullptr);
    if (self != nullptr) destroy();
    CHECK(mock.memory_used == 0);
    CHECK(global_refs == 0);
  }

  uint32_t number(const std::string& owner, const std::string& name, const std::string& type = "()V") {
    const hprof_probe_user& user = mock.probe_users.at(0);
    return user.number(user.self, mock.add_method(mock.add_class(owner, "L" + owner + ";"), name, type));
  }
  void stack(const std::vector<std::string>& frames) {
    thread->stack.clear();
    for (const std::string& frame : frames) thread->stack.push_back({method(frame), 1});
  }
  void ends(uint64_t number, uint64_t size, uint64_t value) {
    native<void(JNICALL*)(JNIEnv*, jclass, jlong, jobject, jlong, jthread)>("ends")(
        jni(), nullptr, static_cast<jlong>(number << 56 | size), object.ref(), static_cast<jlong>(value),
        static_cast<jthread>(thread->ref()));
  }
  void allocate(uint64_t address, uint64_t size) { ends(kAllocates, size, address); }
  void reserve(uint64_t size) { ends(kReserves, size, 0); }
  void frees(uint64_t address, bool by_object = false) {
    native<void(JNICALL*)(JNIEnv*, jclass, jobject, jlong)>("frees")(
        jni(), nullptr, by_object ? object.ref() : nullptr, static_cast<jlong>(address));
  }
  void fails(uint64_t number) {
    native<void(JNICALL*)(JNIEnv*, jclass, jlong)>("fails")(jni(), nullptr, static_cast<jlong>(number << 56));
  }
  void read(double cutoff = 0) {
    rows.clear();
    files.clear();
    REQUIRE(report(cutoff) == HPROF_OK);
    for (const MockRecord& record : mock.written) {
      if (is_table(record, kDirectMemory)) rows = rows_of<Row>(record.as<hprof_rec_table>());
      if (is_table(record, kMappedFiles)) files = rows_of<Row>(record.as<hprof_rec_table>());
    }
  }
  std::string kind(const Row& row) { return mock.text(static_cast<hprof_string_id>(row.kind)); }
  std::vector<std::string> trace(const Row& row) {
    return mock.trace_text(static_cast<hprof_trace_serial>(row.trace));
  }
};

bool is(const Row& row, uint64_t live_bytes, uint64_t live, uint64_t bytes, uint64_t blocks) {
  return row.live_bytes == live_bytes && row.live_objects == live && row.allocated_bytes == bytes &&
         row.allocated_objects == blocks;
}

}  // namespace

TEST_CASE("each JDK has the methods that it is asked for") {
  const std::map<uint32_t, std::string> unmaps = {{8, "run"}, {11, "run"}, {14, "unmap"}, {27, "unmap"}};
  for (const auto& [version, name] : unmaps) {
    DirectVm f(version);
    const std::string include = f.mock.probe_users.at(0).include;
    CHECK((include.find("jdk.internal.misc.Unsafe.allocateMemory:") != std::string::npos) == (version >= 9));
    CHECK((include.find("DirectByteBuffer$Deallocator.<init>:") != std::string::npos) == (version < 9));
    CHECK(include.find("sun.nio.ch.FileChannelImpl$Unmapper." + name) != std::string::npos);
    CHECK(f.number("jdk.internal.misc.Unsafe", "freeMemory", "(J)V") == kFrees);
    CHECK(f.number("jdk.internal.misc.Unsafe", "allocateMemory", "(J)J") == kAllocates);
    CHECK(f.number("java.nio.Bits", "reserveMemory", "(JJ)V") == kReserves);
    CHECK(f.number("java.nio.Bits", "unreserveMemory", "(JJ)V") == 0);
    const std::string unmapper = "sun.nio.ch.FileChannelImpl$Unmapper", type = "(JJILjava/io/FileDescriptor;";
    CHECK(f.number(unmapper, "<init>", type + ")V") == kMaps);
    CHECK(f.number(unmapper, "<init>", type + "Lsun/nio/ch/FileChannelImpl$1;)V") == 0);
    CHECK(f.number(unmapper, name) == kUnmaps);
  }
}

TEST_CASE("the kind is what the JDK's frames and its reservation say, and the trace begins above them") {
  DirectVm f;
  f.start();
  f.stack({"jdk.internal.misc.Unsafe.allocateMemory", "java.nio.DirectByteBuffer.<init>",
           "java.nio.ByteBuffer.allocateDirect", "App.main"});
  f.reserve(100);
  f.allocate(16, 100);
  f.stack({"jdk.internal.misc.Unsafe.allocateMemory",
           "jdk.internal.foreign.SegmentFactories.allocateNativeInternal",
           "jdk.internal.foreign.ArenaImpl.allocate", "App.main"});
  f.reserve(90);
  f.allocate(32, 90);
  f.allocate(48, 80);
  f.stack({"jdk.internal.misc.Unsafe.allocateMemory", "sun.misc.Unsafe.allocateMemory", "App.main"});
  f.allocate(64, 70);
  f.stack({"sun.nio.ch.FileChannelImpl$Unmapper.<init>", "sun.nio.ch.FileChannelImpl$DefaultUnmapper.<init>",
           "sun.nio.ch.FileChannelImpl.map", "App.main"});
  f.ends(kMaps, 4096, 0);
  f.read();
  REQUIRE(f.rows.size() == 4);
  REQUIRE(f.files.size() == 1);
  const std::vector<std::string> kinds = {"direct buffer", "reserved segment", "segment", "Unsafe"};
  for (size_t i = 0; i < 4; i++) {
    CHECK(f.kind(f.rows[i]) == kinds[i]);
    CHECK(is(f.rows[i], 100 - 10 * i, 1, 100 - 10 * i, 1));
    CHECK(f.trace(f.rows[i]).size() == (i == 0 ? 2 : 1));
  }
  CHECK(f.kind(f.files[0]) == "mapped file");
  CHECK(is(f.files[0], kFieldValue, 1, kFieldValue, 1));
  CHECK(f.trace(f.files[0]).size() == 1);
  CHECK(f.has_note("direct=y: 190 bytes of direct buffers and reserved segments live"));
  f.frees(0, true);  // the object has another address
  f.frees(4096);
  f.read();
  CHECK(is(f.files[0], 0, 0, kFieldValue, 1));
}

TEST_CASE("what is freed lives no longer, once") {
  DirectVm f;
  f.start();
  for (uint64_t i = 1; i <= 10; i++) f.allocate(i * 16, 10);
  for (uint64_t i = 1; i <= 4; i++) f.frees(i * 16);
  f.frees(16);
  f.frees(0x7000);
  f.read();
  REQUIRE(f.rows.size() == 1);
  CHECK(is(f.rows[0], 60, 6, 100, 10));
  CHECK(f.files.empty());
}

TEST_CASE("a block at the address of another one ends that") {
  DirectVm f;
  f.start();
  f.allocate(16, 10);
  f.allocate(16, 7);
  f.allocate(0, 5);
  f.read();
  CHECK(is(f.rows.at(0), 7, 1, 17, 2));
}

TEST_CASE("a reset keeps what lives, and what no longer does is forgotten") {
  DirectVm f;
  f.start();
  f.allocate(16, 10);
  f.stack({"App.other"});
  f.allocate(32, 20);
  f.frees(32);
  f.ops->reset(f.self);
  f.allocate(48, 30);
  f.frees(48);
  f.read();
  REQUIRE(f.rows.size() == 2);
  CHECK(is(f.rows[0], 10, 1, 0, 0));
  CHECK(is(f.rows[1], 0, 0, 30, 1));
  f.ops->reset(f.self);
  f.read();
  CHECK(f.rows.size() == 1);
}

TEST_CASE("the direct buffers of Java 8") {
  DirectVm f(8);
  f.start();
  f.stack({"java.nio.DirectByteBuffer$Deallocator.<init>", "java.nio.DirectByteBuffer.<init>", "App.main"});
  f.ends(kMakesBuffer, kFieldValue, 0);
  f.read();
  REQUIRE(f.rows.size() == 1);
  CHECK(f.kind(f.rows[0]) == "direct buffer");
  CHECK(is(f.rows[0], kFieldValue, 1, kFieldValue, 1));
  CHECK(f.has_note("not seen on Java 8"));
  f.frees(0, true);
  f.read();
  CHECK(is(f.rows.at(0), 0, 0, kFieldValue, 1));
}

TEST_CASE("rows below the cutoff by live and allocated bytes are left out, and are in the sums") {
  DirectVm f;
  f.start();
  f.allocate(16, 1000);
  f.stack({"App.other"});
  f.allocate(32, 1);
  f.stack({"App.freed"});
  f.allocate(48, 500);
  f.frees(48);
  f.read(0.1);
  CHECK(f.rows.size() == 2);
  for (const MockRecord& record : f.mock.written) {
    if (is_table(record, kDirectMemory)) CHECK(record.as<hprof_rec_table>().totals[2].u == 1001);
  }
}

TEST_CASE("losses are counted") {
  DirectVm f;
  f.start();
  f.fails(kAllocates);
  f.fails(kReallocates);
  CHECK(f.mock.loss("blocks of memory that count as freed: reallocateMemory failed (direct=y)") == 1);
  f.allocate(16, 1);
  f.mock.memory_limit = f.mock.memory_used;
  for (uint64_t i = 2; i <= 2000; i++) f.allocate(16 * i, 1);
  const uint64_t lost = f.mock.loss("blocks of memory that count as freed: no room for more (direct=y)");
  CHECK((lost >= 2000 - 1024 && lost < 1992));
  f.mock.memory_limit = UINT64_MAX;
  f.read();
  CHECK(is(f.rows.at(0), 2000 - lost, 2000 - lost, 2000, 2000));
}

TEST_CASE("a carrier that mounts a virtual thread is not asked for its stack") {
  DirectVm f(21);
  f.start();
  f.thread->kinds.insert(f.class_named("jdk.internal.misc.CarrierThread")->ref());
  f.reserve(10);
  f.allocate(16, 10);
  CHECK(f.single_calls == 0);
  f.read();
  CHECK(is(f.rows.at(0), 10, 1, 10, 1));
  CHECK(f.rows[0].trace == 0);
  CHECK(f.kind(f.rows[0]) == "direct buffer");
}

TEST_CASE("after the end of the session the native methods do nothing") {
  DirectVm f;
  f.start();
  f.allocate(16, 10);
  f.destroy();
  f.allocate(32, 10);
  f.frees(16);
  f.fails(kReallocates);
}
