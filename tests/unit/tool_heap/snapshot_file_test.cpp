// The index beside a dump: the same answers, and made anew when it does not fit.
#include "tools/heap/read/snapshot_file.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/tool_heap/small_heap.h"
#include "tools/heap/questions/heap_report.h"

using namespace hprof::test;
using namespace hprof::tool;
namespace fs = std::filesystem;

namespace {

constexpr uint64_t A = 0x1000, B = 0x1001, C = 0x1002;

struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "hprof-index-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path = pattern;
    dump = path + "/a.hprof";
  }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& bytes) const { std::ofstream(dump, std::ios::binary) << bytes; }
  std::string index() const { return dump + ".index"; }
  std::string path, dump;
};

std::string heap_of(uint32_t bytes) {
  return SmallHeap()
      .holder(A)
      .root(SmallHeap::kHolder)
      .thread(C, 1)
      .local(B, 1)
      .array(A, {B, C})
      .bytes(B, bytes)
      .array(C, {})
      .file();
}

std::string answer(const Folder& folder, Document (*command)(HeapRun&), std::vector<std::string> more,
                   bool index, Follow follow = Follow::kSoft) {
  HeapSettings settings;
  settings.index = index;
  settings.text = "x";
  settings.snapshot.follow = follow;
  auto open = [](const std::string& name) { return std::make_unique<DumpFile>(name); };
  more.insert(more.begin(), folder.dump);
  HeapRun run{settings, more, open, ""};
  Document document = command(run);
  REQUIRE(run.error == "");
  std::ostringstream out;
  write_json(document, out);
  return out.str();
}

bool fits(const Folder& folder, Follow follow = Follow::kSoft) {
  DumpFile dump(folder.dump);
  MemoryBudget budget;
  SnapshotOptions options;
  options.follow = follow;
  SnapshotFile index(folder.index(), dump);
  Snapshot snapshot(dump, options, budget);
  ReferenceGraph graph;
  return index.load(snapshot, graph);
}

}  // namespace

TEST_CASE("every command says the same with an index, when it is made and when it is used") {
  Folder folder;
  folder.write(heap_of(1000));
  struct {
    Document (*run)(HeapRun&);
    std::vector<std::string> more;
  } commands[] = {{run_summary, {}},      {run_leaks, {}},        {run_report, {}},
                  {run_histogram, {}},    {run_path, {"0x1001"}}, {run_path, {"byte[]"}},
                  {run_dominators, {}},   {run_retained, {"*"}},  {run_objects, {"*"}},
                  {run_show, {"0x1001"}}, {run_find, {}},         {run_diff, {folder.dump}}};
  for (const auto& each : commands) {
    std::string plain = answer(folder, each.run, each.more, false);
    fs::remove(folder.index());
    CHECK(answer(folder, each.run, each.more, true) == plain);
    CHECK(fits(folder));
    CHECK(answer(folder, each.run, each.more, true) == plain);
  }
}

TEST_CASE("an index has all facts of classes that commands use") {
  Folder folder;
  folder.write(
      SmallHeap().holder(A).root(SmallHeap::kHolder).reference(A, SmallHeap::kWeak, B).bytes(B, 8).file());
  answer(folder, run_summary, {}, true);
  DumpFile dump(folder.dump);
  MemoryBudget budget;
  SnapshotFile index(folder.index(), dump);
  Snapshot stored(dump, SnapshotOptions(), budget), fresh(dump, SnapshotOptions(), budget);
  std::string error;
  ReferenceGraph graph;
  REQUIRE(index.load(stored, graph));
  REQUIRE(fresh.read(&error));
  const std::vector<HeapClass>&mine = stored.outline.classes.list, &theirs = fresh.outline.classes.list;
  REQUIRE(mine.size() == theirs.size());
  uint64_t values = 0;
  for (size_t i = 0; i < mine.size(); ++i) {
    CHECK(mine[i].name == theirs[i].name);
    CHECK(mine[i].instances == theirs[i].instances);
    CHECK(mine[i].most_values == theirs[i].most_values);
    values += mine[i].most_values;
  }
  CHECK(values > 0);
}

TEST_CASE("an index of another dump, of other options, cut short or open to others is none") {
  Folder folder;
  folder.write(heap_of(1000));
  answer(folder, run_summary, {}, true);
  REQUIRE(fits(folder));
  CHECK_FALSE(fits(folder, Follow::kAll));
  SUBCASE("the dump changed") {
    folder.write(heap_of(2000));
    CHECK_FALSE(fits(folder));
    std::string before = answer(folder, run_summary, {}, false);
    CHECK(answer(folder, run_summary, {}, true) == before);
    CHECK(fits(folder));
  }
  SUBCASE("it is cut short") {
    fs::resize_file(folder.index(), fs::file_size(folder.index()) - 1);
    CHECK_FALSE(fits(folder));
  }
  SUBCASE("it was never finished") {
    std::fstream file(folder.index(), std::ios::in | std::ios::out | std::ios::binary);
    file.write("\0\0\0\0\0\0\0\0", 8);
    file.close();
    CHECK_FALSE(fits(folder));
  }
  SUBCASE("a byte of it has changed") {
    // Parts begin pages.
    const uint64_t size = fs::file_size(folder.index());
    std::fstream file(folder.index(), std::ios::in | std::ios::out | std::ios::binary);
    for (uint64_t page = 4096; page < size; page += 4096) {
      char old = 0;
      file.seekg(static_cast<std::streamoff>(page));
      file.read(&old, 1);
      file.seekp(static_cast<std::streamoff>(page));
      file.put(static_cast<char>(old ^ 4)).flush();
      CHECK_FALSE(fits(folder));
      file.seekp(static_cast<std::streamoff>(page));
      file.put(old).flush();
      CHECK(fits(folder));
    }
    std::string before = answer(folder, run_summary, {}, false);
    file.seekp(4096);
    file.put('\x55').flush();
    CHECK(answer(folder, run_summary, {}, true) == before);
    CHECK(fits(folder));
  }
  SUBCASE("others may write it") {
    fs::permissions(folder.index(), fs::perms::group_write, fs::perm_options::add);
    CHECK_FALSE(fits(folder));
  }
  SUBCASE("a part lies outside the file") {
    std::fstream file(folder.index(), std::ios::in | std::ios::out | std::ios::binary);
    uint64_t table = 0, far = uint64_t{1} << 40;
    file.seekg(16 + 64 + 3 * 8);
    file.read(reinterpret_cast<char*>(&table), 8);
    file.seekp(static_cast<std::streamoff>(table + 16));
    file.write(reinterpret_cast<const char*>(&far), 8);
    file.close();
    CHECK_FALSE(fits(folder));
  }
}

TEST_CASE("a large dump gets an index by itself, where it can be stored") {
  Folder folder;
  folder.write(heap_of(1000));
  const std::string plain = answer(folder, run_summary, {}, false);
  HeapSettings settings;
  settings.index_from = fs::file_size(folder.dump);
  auto open = [](const std::string& name) { return std::make_unique<DumpFile>(name); };
  auto answer_and_note = [&] {
    HeapRun run{settings, {folder.dump}, open, ""};
    std::ostringstream out;
    write_json(run_summary(run), out);
    CHECK(run.error == "");
    CHECK(out.str() == plain);
    return run.notes.empty() ? std::string() : run.notes[0];
  };
  SUBCASE("stored, said, and used") {
    CHECK(answer_and_note().find("stored " + folder.index() + " for the next command, ") == 0);
    CHECK(fits(folder));
    CHECK(answer_and_note() == "");
  }
  SUBCASE("a smaller dump") {
    ++settings.index_from;
    CHECK(answer_and_note() == "");
    CHECK_FALSE(fs::exists(folder.index()));
  }
  SUBCASE("a place where no file can be made") {
    fs::create_directory(folder.index());
    CHECK(answer_and_note() == "");
    CHECK(fs::is_directory(folder.index()));
  }
}

TEST_CASE("no index is left where the dump cannot be read") {
  Folder folder;
  folder.write("JAVA PROFILE 1.0.2");
  HeapSettings settings;
  settings.index = true;
  auto open = [](const std::string& name) { return std::make_unique<DumpFile>(name); };
  HeapRun run{settings, {folder.dump}, open, ""};
  run_summary(run);
  CHECK(run.error != "");
  CHECK_FALSE(fs::exists(folder.index()));
}

TEST_CASE("a dump that is no file has no index") {
  Folder folder;
  MemoryDump dump(heap_of(8));
  MemoryBudget budget;
  SnapshotFile index(folder.index(), dump);
  Snapshot snapshot(dump, {}, budget);
  ReferenceGraph graph;
  CHECK_FALSE(index.load(snapshot, graph));
}
