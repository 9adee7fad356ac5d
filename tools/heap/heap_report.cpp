// The commands of hprof heap.
#include "tools/heap/heap_report.h"

#include <algorithm>
#include <map>

#include "tools/format/value_text.h"
#include "tools/heap/array_contents.h"
#include "tools/heap/heap_names.h"
#include "tools/heap/heap_tables.h"
#include "tools/heap/heap_views.h"
#include "tools/heap/paths.h"
#include "tools/heap/snapshot_file.h"

namespace hprof::tool {

namespace {

// An opened dump and all that was read from it.
struct OpenHeap {
  OpenHeap(HeapRun& run, const std::string& name, bool strings = false)
      : opener(run.open(name)),
        budget(run.settings.memory, run.settings.temp),
        index(name + ".index", *opener),
        snapshot(*opener, options(run, strings), budget) {
    std::string error;
    good = run.settings.index ? open_index(name, &error) : snapshot.read_outline(&error);
    if (!good) run.error = error.find(name) == std::string::npos ? name + ": " + error : error;
  }
  static SnapshotOptions options(const HeapRun& run, bool strings) {
    SnapshotOptions chosen = run.settings.snapshot;
    chosen.strings = strings || run.settings.index;
    return chosen;
  }
  // Reads a matching index, else the dump, and writes an index.
  bool open_index(const std::string& name, std::string* error) {
    if (index.load(snapshot)) return true;
    {
      Snapshot fresh(*opener, snapshot.options, budget);
      if (!fresh.read_outline(error)) return false;
      fresh.read_objects(true);
      name_threads(fresh);
      if (!index.begin(fresh, error)) return false;
      fresh.find_dominators();
      if (!index.finish(fresh, error)) return false;
    }
    if (index.load(snapshot)) return true;
    *error = "the index " + name + ".index cannot be read back";
    return false;
  }

  std::unique_ptr<DumpOpener> opener;
  MemoryBudget budget;
  SnapshotFile index;  // before the snapshot, which borrows from it
  Snapshot snapshot;
  bool good = false;
};

std::string root_counts(const Snapshot& snapshot) {
  std::map<uint8_t, uint64_t> counts;
  for (const HeapRoot& root : snapshot.roots) ++counts[root.tag];
  std::string text;
  for (const auto& [tag, count] : counts) {
    static const std::map<uint8_t, const char*> kNames = {
        {kRootUnknown, "unknown"},          {kRootJniGlobal, "JNI global"},
        {kRootJniLocal, "JNI local"},       {kRootJavaFrame, "Java frame"},
        {kRootNativeStack, "native stack"}, {kRootStickyClass, "system class"},
        {kRootThreadBlock, "thread block"}, {kRootMonitorUsed, "locked monitor"},
        {kRootThreadObject, "thread"}};
    auto known = kNames.find(tag);
    std::string name = known == kNames.end() ? "of kind " + std::to_string(tag) : known->second;
    text += (text.empty() ? "" : ", ") + count_text(count) + " " + name;
  }
  return text.empty() ? "none" : text;
}

std::string follow_text(Follow follow) {
  return follow == Follow::kAll      ? "strong, soft, weak and phantom ones are followed"
         : follow == Follow::kStrong ? "strong ones are followed, not soft, weak and phantom ones"
                                     : "strong and soft ones are followed, not weak and phantom ones";
}

}  // namespace

Section overview(const Snapshot& snapshot, const std::string& file, bool retained) {
  const DumpOutline& outline = snapshot.outline;
  Section section{"dump", "Heap dump " + file};
  Table table{"facts",
              "",
              {{"fact", ""}, {"value", ""}, {"count", "", CellKind::kData}, {"bytes", "", CellKind::kData}}};
  auto fact = [&](const char* name, const std::string& text) {
    table.rows.push_back({std::string(name), text});
  };
  auto sum = [&](const char* name, uint64_t count, uint64_t of_bytes, const char* more) {
    table.rows.push_back(
        {std::string(name), count_text(count) + ", " + bytes_text(of_bytes) + more, count, of_bytes});
  };
  auto number = [&](const char* name, uint64_t count, const std::string& more) {
    table.rows.push_back({std::string(name), count_text(count) + more, count});
  };
  fact("created", date_text(outline.header.milliseconds));
  std::string version = java_version(snapshot);
  if (!version.empty()) fact("Java version", version);
  uint64_t bytes = 0;
  for (const ClassTotals& each : snapshot.totals) bytes += each.bytes;
  sum("objects", snapshot.numbers.size(), bytes, "");
  if (retained) {
    uint64_t reached = 0;
    for (const ClassTotals& each : snapshot.totals) reached += each.reached;
    sum("reachable", reached, snapshot.total_bytes(),
        snapshot.options.keep_unreached ? " (unreachable ones are taken in)" : "");
    if (reached < snapshot.numbers.size()) {
      sum("unreachable", snapshot.numbers.size() - reached, bytes - snapshot.total_bytes(),
          " (--unreachable takes them in)");
    }
    number("references", snapshot.references, "; " + follow_text(snapshot.options.follow));
  }
  uint64_t classes = 0;
  for (const HeapClass& each : outline.classes.list) classes += each.dumped;
  number("classes", classes, "");
  fact("GC roots", root_counts(snapshot));
  fact("layout",
       snapshot.layout.text() + (snapshot.options.layout.given ? " (as given)"
                                 : snapshot.layout.addresses   ? " (seen in the addresses)"
                                                               : " (assumed; --layout= says otherwise)"));
  if (outline.dumps > 1) {
    fact("dumps", "the file has " + std::to_string(outline.dumps) + "; this is number " +
                      std::to_string(snapshot.options.dump != 0 ? snapshot.options.dump : outline.dumps) +
                      " (--dump=N takes another)");
  }
  if (outline.repeated > 0) number("repeated ids", outline.repeated, "; the first record counts");
  if (snapshot.dangling > 0)
    number("dangling", snapshot.dangling, " references to objects that are not in the dump");
  section.tables.push_back(table);
  for (const std::string& problem : outline.problems) section.text.push_back("Incomplete: " + problem);
  return section;
}

namespace {

void add_summary(OpenHeap& heap, size_t top, Document* document) {
  const Snapshot& snapshot = heap.snapshot;
  auto add = [&](const char* key, Table table) {
    std::string title = std::move(table.title);
    table.title.clear();
    document->sections.push_back({key, title, {}, {std::move(table)}, {}});
  };
  add("biggest", biggest_table(snapshot, top));
  add("classes", class_table(snapshot, top));
  add("packages", package_table(snapshot, top));
  add("loaders", loader_table(snapshot, top));
  add("threads", thread_table(snapshot, top));
  document->sections.push_back(site_section(snapshot, top));
  document->sections.push_back(content_section(snapshot, heap.budget, top));
}

// The parts of the report in the order in which they can be computed.
Document run_parts(HeapRun& run, bool summary, bool leaks, bool tree) {
  OpenHeap heap(run, run.words[0], summary);
  if (!heap.good) return {};
  Snapshot& snapshot = heap.snapshot;
  snapshot.read_objects(true);
  std::unique_ptr<ShortestPaths> paths;
  if (leaks) {
    // The search for dominators consumes the graph.
    paths = std::make_unique<ShortestPaths>(snapshot, heap.budget);
    paths->keep_paths_only();
  }
  snapshot.find_dominators();
  name_threads(snapshot);
  Document document;
  document.sections.push_back(overview(snapshot, run.words[0], true));
  if (leaks) document.sections.push_back(leak_section(snapshot, *paths, run.settings.leaks));
  if (summary) add_summary(heap, run.settings.top, &document);
  TreeShape shape;
  shape.top = 100;
  shape.children = 25;
  shape.levels = 30;
  shape.part = 1000;
  if (tree) document.sections.push_back(dominator_section(snapshot, kNoObject, shape));
  return document;
}

}  // namespace

Document run_summary(HeapRun& run) { return run_parts(run, true, false, false); }
Document run_leaks(HeapRun& run) { return run_parts(run, false, true, false); }
Document run_report(HeapRun& run) { return run_parts(run, true, true, true); }

Document run_histogram(HeapRun& run) {
  OpenHeap heap(run, run.words[0]);
  if (!heap.good) return {};
  heap.snapshot.read_objects(false);
  Document document;
  document.sections.push_back(overview(heap.snapshot, run.words[0], false));
  Table table = histogram_table(heap.snapshot, run.settings.top);
  document.sections.push_back({"histogram", "Classes by shallow bytes", {}, {table}, {}});
  return document;
}

namespace {

Section object_path(const Snapshot& snapshot, const ShortestPaths& paths, uint32_t object) {
  Section section{"path", "Shortest path from a GC root to " + snapshot.describe(object)};
  std::vector<uint32_t> path = paths.to(object);
  if (path.empty()) {
    section.text = {
        "None: no root reaches it by the references that are followed (--follow=all follows weak ones)."};
  } else {
    section.tables.push_back(path_table(snapshot, path));
  }
  return section;
}

// The merged shortest paths, those to most objects first.
Section class_paths(const Snapshot& snapshot, const ShortestPaths& paths,
                    const std::vector<uint32_t>& objects, const std::string& name, size_t top) {
  std::vector<ShortestPaths::Step> steps = paths.merge(objects);
  std::vector<uint32_t> ends;
  uint64_t reached = 0;
  for (uint32_t i = 1; i < steps.size(); ++i) {
    if (steps[i].ends != 0) ends.push_back(i);
    reached += steps[i].ends;
  }
  std::sort(ends.begin(), ends.end(), [&](uint32_t a, uint32_t b) {
    return steps[a].ends != steps[b].ends ? steps[a].ends > steps[b].ends : a < b;
  });
  Section section{"paths", "Shortest paths from GC roots to " + name};
  section.text = {count_text(objects.size()) + " objects, " + count_text(reached) +
                  " of them reachable by the references that are followed."};
  for (size_t i = 0; i < ends.size() && (top == 0 || i < top); ++i) {
    const ShortestPaths::Step& end = steps[ends[i]];
    Section part{"path", count_text(end.ends) + (end.ends == 1 ? " object" : " objects") + ", for example"};
    part.tables.push_back(path_table(snapshot, paths.to(end.example)));
    section.parts.push_back(part);
  }
  if (top != 0 && ends.size() > top)
    section.text.push_back(count_text(ends.size() - top) + " kinds of paths are left out.");
  return section;
}

}  // namespace

Document run_path(HeapRun& run) {
  OpenHeap heap(run, run.words[0]);
  if (!heap.good) return {};
  Snapshot& snapshot = heap.snapshot;
  snapshot.read_objects(true);
  std::vector<uint32_t> objects = find_objects(snapshot, run.words[1], &run.error);
  if (!run.error.empty()) return {};
  name_threads(snapshot);
  ShortestPaths paths(snapshot, heap.budget);
  Document document;
  if (objects.size() == 1) {
    document.sections.push_back(object_path(snapshot, paths, objects[0]));
  } else {
    document.sections.push_back(
        class_paths(snapshot, paths, objects, run.words[1], std::min<size_t>(run.settings.top, 10)));
  }
  return document;
}

Document run_dominators(HeapRun& run) {
  OpenHeap heap(run, run.words[0]);
  if (!heap.good) return {};
  Snapshot& snapshot = heap.snapshot;
  snapshot.read_objects(true);
  uint32_t node = kNoObject;
  if (run.words.size() > 1) {
    std::vector<uint32_t> objects = find_objects(snapshot, run.words[1], &run.error);
    if (!run.error.empty()) return {};
    node = objects[0];
  }
  snapshot.find_dominators();
  name_threads(snapshot);
  TreeShape shape;
  shape.top = run.settings.top;
  return {{dominator_section(snapshot, node, shape)}};
}

Document run_retained(HeapRun& run) {
  OpenHeap heap(run, run.words[0]);
  if (!heap.good) return {};
  heap.snapshot.read_objects(true);
  std::vector<uint32_t> objects = find_objects(heap.snapshot, run.words[1], &run.error);
  if (!run.error.empty()) return {};
  return {{retained_section(heap.snapshot, heap.budget, objects, run.words[1], run.settings.top)}};
}

Document run_objects(HeapRun& run) {
  OpenHeap heap(run, run.words[0]);
  if (!heap.good) return {};
  heap.snapshot.read_objects(true);
  std::vector<uint32_t> objects = find_objects(heap.snapshot, run.words[1], &run.error);
  if (!run.error.empty()) return {};
  heap.snapshot.find_dominators();
  return {{list_section(heap.snapshot, objects, run.words[1], run.settings.top)}};
}

Document run_show(HeapRun& run) {
  OpenHeap heap(run, run.words[0]);
  if (!heap.good) return {};
  Snapshot& snapshot = heap.snapshot;
  snapshot.read_objects(true);
  std::vector<uint32_t> objects = find_objects(snapshot, run.words[1], &run.error);
  if (!run.error.empty()) return {};
  std::vector<uint32_t> referrers = referrers_of(snapshot, objects[0]);
  snapshot.find_dominators();
  name_threads(snapshot);
  return {{object_section(snapshot, objects[0], referrers, run.settings.top)}};
}

Document run_find(HeapRun& run) {
  OpenHeap heap(run, run.words[0], true);
  if (!heap.good) return {};
  heap.snapshot.read_objects(false);
  return {{find_section(heap.snapshot, run.settings.text, run.settings.top)}};
}

Document run_diff(HeapRun& run) {
  std::vector<std::pair<std::string, ClassSums>> sums[2];
  uint64_t bytes[2] = {};
  Document document;
  for (size_t i = 0; i < 2; ++i) {
    // One dump after the other: only the sums of the first are kept.
    OpenHeap heap(run, run.words[i]);
    if (!heap.good) return {};
    heap.snapshot.read_objects(true);
    heap.snapshot.find_dominators();
    document.sections.push_back(overview(heap.snapshot, run.words[i], true));
    sums[i] = class_sums(heap.snapshot);
    bytes[i] = heap.snapshot.total_bytes();
  }
  Section section{"diff", "What changed from the first to the second"};
  auto change = static_cast<int64_t>(bytes[1] - bytes[0]);
  section.text = {"Reachable: " + bytes_text(bytes[0]) + ", then " + bytes_text(bytes[1]) + " (" +
                  cell_text({"", "", CellKind::kChange}, change) + ")"};
  section.tables.push_back(diff_table(sums[0], sums[1], run.settings.top));
  document.sections.push_back(section);
  return document;
}

}  // namespace hprof::tool
