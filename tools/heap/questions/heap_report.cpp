// The commands of hprof heap.
#include "tools/heap/questions/heap_report.h"

#include <algorithm>
#include <map>

#include "tools/format/value_text.h"
#include "tools/heap/questions/arenas.h"
#include "tools/heap/questions/array_contents.h"
#include "tools/heap/questions/heap_names.h"
#include "tools/heap/questions/heap_tables.h"
#include "tools/heap/questions/heap_views.h"
#include "tools/heap/questions/object_rows.h"
#include "tools/heap/questions/paths.h"
#include "tools/heap/questions/reference_objects.h"
#include "tools/heap/questions/thread_stacks.h"
#include "tools/heap/questions/waste.h"
#include "tools/heap/read/snapshot_file.h"

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
    good = open(run, name, &error);
    if (!good) run.error = error.find(name) == std::string::npos ? name + ": " + error : error;
  }
  static SnapshotOptions options(const HeapRun& run, bool strings) {
    SnapshotOptions chosen = run.settings.snapshot;
    chosen.strings = strings;
    return chosen;
  }
  // Reads a matching index, else the dump, and writes an index where one is wanted.
  bool open(HeapRun& run, const std::string& name, std::string* error) {
    const HeapSettings& settings = run.settings;
    if (!settings.index && settings.index_from == UINT64_MAX) return read(error);
    if (index.load(snapshot, graph)) return true;
    uint64_t size = 0, changed = 0;
    opener->identify(&size, &changed);
    if (!settings.index && size < settings.index_from) return read(error);
    std::string problem = "the index " + name + ".index cannot be read back";
    if (write_index(&problem) && index.load(snapshot, graph)) {
      if (!settings.index)
        run.notes.push_back("stored " + name + ".index for the next command, " + bytes_text(index.bytes()) +
                            " (--no-index: not stored)");
      return true;
    }
    if (!settings.index) return read(error);  // no room, or the folder is read-only
    *error = problem;
    return false;
  }
  bool read(std::string* error) {
    std::optional<ReferenceGraph> references = snapshot.read(error);
    if (references) graph = std::move(*references);
    return references.has_value();
  }
  void find_dominators() { snapshot.find_dominators(std::move(graph)); }
  bool write_index(std::string* error) {
    SnapshotOptions complete = snapshot.options;
    complete.strings = true;
    Snapshot fresh(*opener, complete, budget);
    if (!index.create(error)) return false;
    std::optional<ReferenceGraph> references = fresh.read(error);
    if (!references) return false;
    name_threads(fresh);
    if (!index.begin(fresh, *references, error)) return false;
    fresh.find_dominators(std::move(*references));
    return index.finish(fresh, error);
  }

  std::unique_ptr<DumpOpener> opener;
  MemoryBudget budget;
  SnapshotFile index;  // before the snapshot and the graph, which borrow from it
  Snapshot snapshot;
  ReferenceGraph graph;
  bool good = false;
};

std::string root_counts(const Snapshot& snapshot) {
  std::map<uint8_t, uint64_t> counts;
  for (const HeapRoot& root : snapshot.roots) ++counts[root.tag];
  std::string text;
  for (const auto& [tag, count] : counts) {
    static constexpr NamedTag kNames[] = {
        {kRootUnknown, "unknown"},          {kRootJniGlobal, "JNI global"},
        {kRootJniLocal, "JNI local"},       {kRootJavaFrame, "Java frame"},
        {kRootNativeStack, "native stack"}, {kRootStickyClass, "system class"},
        {kRootThreadBlock, "thread block"}, {kRootMonitorUsed, "locked monitor"},
        {kRootThreadObject, "thread"}};
    text += (text.empty() ? "" : ", ") + count_text(count) + " " + name_in(kNames, tag, "unknown");
  }
  return text.empty() ? "none" : text;
}

std::string follow_text(Follow follow) {
  return follow == Follow::kAll      ? "strong, soft, weak and phantom ones are followed"
         : follow == Follow::kStrong ? "strong ones are followed, not soft, weak and phantom ones"
                                     : "strong and soft ones are followed, not weak and phantom ones";
}

}  // namespace

Section overview(const Snapshot& snapshot, const std::string& file) {
  const DumpOutline& outline = snapshot.outline;
  Section section{"dump", "Heap dump " + file};
  auto fact = [&](const char* key, const char* name, const std::string& text) {
    section.facts.push_back({{key, name}, text});
  };
  auto number = [&](const char* key, const char* name, uint64_t count, const std::string& more) {
    section.facts.push_back({{key, name, CellKind::kCount}, count, count_text(count) + more});
  };
  auto sum = [&](const char* key, const char* bytes_key, uint64_t count, uint64_t of_bytes,
                 const char* more) {
    number(key, key, count, ", " + bytes_text(of_bytes) + more);
    section.facts.push_back({data_column(bytes_key, CellKind::kBytes), of_bytes});
  };
  section.facts.push_back({data_column("file", CellKind::kText), file});
  section.facts.push_back({data_column("created_ms", CellKind::kNumber), outline.header.milliseconds});
  fact("created", "created", date_text(outline.header.milliseconds));
  std::string version = java_version(snapshot);
  if (!version.empty()) fact("java_version", "Java version", version);
  uint64_t bytes = 0;
  for (const ClassTotals& each : snapshot.totals) bytes += each.bytes;
  sum("objects", "bytes", snapshot.numbers.size(), bytes, "");
  uint64_t reached = 0;
  for (const ClassTotals& each : snapshot.totals) reached += each.reached;
  sum("reachable", "reachable_bytes", reached, snapshot.total_bytes(),
      snapshot.options.keep_unreached ? " (unreachable ones are taken in)" : "");
  if (reached < snapshot.numbers.size()) {
    sum("unreachable", "unreachable_bytes", snapshot.numbers.size() - reached, bytes - snapshot.total_bytes(),
        " (--unreachable takes them in)");
  }
  number("references", "references", snapshot.references, "; " + follow_text(snapshot.options.follow));
  uint64_t classes = 0;
  for (const HeapClass& each : outline.classes.list) classes += each.dumped;
  number("classes", "classes", classes, "");
  section.facts.push_back(
      {{"gc_roots", "GC roots", CellKind::kCount}, uint64_t{snapshot.roots.size()}, root_counts(snapshot)});
  fact("layout", "layout",
       snapshot.layout.text() + (snapshot.options.layout.given ? " (as given)"
                                 : snapshot.layout.addresses   ? " (seen in the addresses)"
                                                               : " (assumed; --layout= says otherwise)"));
  if (outline.dumps > 1) {
    fact("dumps", "dumps",
         "the file has " + std::to_string(outline.dumps) + "; this is number " +
             std::to_string(snapshot.options.dump != 0 ? snapshot.options.dump : outline.dumps) +
             " (--dump=N takes another)");
  }
  if (outline.repeated > 0)
    number("repeated_ids", "repeated ids", outline.repeated, "; the first record counts");
  if (snapshot.dangling > 0)
    number("dangling", "dangling", snapshot.dangling, " references to objects that are not in the dump");
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

// Opens the first dump and answers by `body`.
template <typename Body>
Document answer(HeapRun& run, bool strings, Body body) {
  Document document;
  OpenHeap heap(run, run.words[0], strings);
  if (heap.good) body(heap, &document);
  if (!run.error.empty()) return {};
  document.problems = heap.snapshot.outline.problems;
  return document;
}

// Leaves out what no root reaches. False with run.error: nothing is left.
bool keep_reached(const Reach& reach, HeapRun& run, NamedObjects* of) {
  std::vector<uint32_t>& objects = of->objects;
  const size_t all = objects.size();
  objects.erase(
      std::remove_if(objects.begin(), objects.end(), [&](uint32_t each) { return !reach.has(each); }),
      objects.end());
  of->unreached = all - objects.size();
  if (objects.empty())
    run.error = "no GC root reaches " +
                (of->by_id  ? of->name
                 : all == 1 ? "the only object of " + of->name
                            : "any of the " + count_text(all) + " objects of " + of->name) +
                " (--unreachable takes in what is unreachable)";
  return !objects.empty();
}

// Answers about the objects of the second word; without one the body gets no objects.
template <typename Body>
Document answer_about_objects(HeapRun& run, Body body) {
  return answer(run, false, [&](OpenHeap& heap, Document* document) {
    NamedObjects of;
    if (run.words.size() < 2 ||
        find_objects(heap.snapshot, run.words[1], run.settings.subclasses, &of, &run.error))
      body(heap, of, document);
  });
}

// The parts of the report in the order in which they can be computed.
Document run_parts(HeapRun& run, bool summary, bool leaks, bool tree) {
  return answer(run, summary, [&](OpenHeap& heap, Document* document) {
    Snapshot& snapshot = heap.snapshot;
    std::unique_ptr<ShortestPaths> paths;
    std::unique_ptr<ThreadLocals> locals;
    if (leaks) {
      paths = std::make_unique<ShortestPaths>(snapshot, heap.graph, heap.budget);
      locals = std::make_unique<ThreadLocals>(snapshot, heap.graph, *paths);
      paths->keep_paths_only();
    }
    LimitCheck limits(snapshot, run.settings.limits, run.settings.subclasses);
    if (leaks && !limits.measure_graph(heap.graph, heap.budget, &run.error)) return;
    heap.find_dominators();
    name_threads(snapshot);
    document->sections.push_back(overview(snapshot, run.words[0]));
    if (leaks) {
      uint64_t largest = 0;
      Section suspects = leak_section(snapshot, *paths, *locals, run.settings.leaks, &largest);
      if (!run.settings.limits.empty()) document->sections.push_back(limits.finish(largest, &run.exceeded));
      document->sections.push_back(std::move(suspects));
    }
    if (summary) add_summary(heap, run.settings.top, document);
    TreeShape shape;
    shape.top = 100;
    shape.children = 25;
    shape.levels = 30;
    shape.part = 1000;
    if (tree) document->sections.push_back(dominator_section(snapshot, {}, shape));
  });
}

}  // namespace

Document run_summary(HeapRun& run) { return run_parts(run, true, false, false); }
Document run_leaks(HeapRun& run) { return run_parts(run, false, true, false); }
Document run_report(HeapRun& run) { return run_parts(run, true, true, true); }

Document run_histogram(HeapRun& run) {
  return answer(run, false, [&](OpenHeap& heap, Document* document) {
    heap.find_dominators();
    document->sections.push_back(overview(heap.snapshot, run.words[0]));
    Table table = histogram_table(heap.snapshot, run.settings.top);
    document->sections.push_back({"histogram", "Classes by shallow bytes", {}, {table}, {}});
  });
}

namespace {

Section object_path(const Snapshot& snapshot, const ShortestPaths& paths, uint32_t object, size_t steps) {
  Section section{"path", "Shortest path from a GC root to " + snapshot.describe(object)};
  std::vector<uint32_t> path = paths.to(object);
  if (path.empty()) {
    section.text = {
        "None: no root reaches it by the references that are followed (--follow=all follows weak ones)."};
  } else {
    section.tables.push_back(path_table(snapshot, paths, path, steps));
  }
  return section;
}

// The merged shortest paths, those to most objects first.
Section class_paths(const Snapshot& snapshot, const ShortestPaths& paths, const NamedObjects& of, size_t top,
                    size_t steps_shown) {
  const std::vector<uint32_t>& objects = of.objects;
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
  Section section{"paths", "Shortest paths from GC roots to " + of.name};
  section.facts = {{data_column("objects", CellKind::kCount), uint64_t{objects.size()}},
                   {data_column("reachable", CellKind::kCount), reached},
                   {data_column("paths", CellKind::kCount), uint64_t{ends.size()}}};
  section.text = {count_text(objects.size()) + " objects, " + count_text(reached) +
                  " of them reachable by the references that are followed."};
  for (size_t i = 0; i < ends.size() && (top == 0 || i < top); ++i) {
    const ShortestPaths::Step& end = steps[ends[i]];
    Section part{"path", count_text(end.ends) + (end.ends == 1 ? " object" : " objects") + ", for example"};
    part.facts = {{data_column("objects", CellKind::kCount), uint64_t{end.ends}}};
    part.tables.push_back(path_table(snapshot, paths, paths.to(end.example), steps_shown));
    section.parts.push_back(part);
  }
  if (top != 0 && ends.size() > top)
    section.text.push_back(count_text(ends.size() - top) + " kinds of paths are left out.");
  return section;
}

}  // namespace

Document run_path(HeapRun& run) {
  return answer_about_objects(run, [&](OpenHeap& heap, NamedObjects& of, Document* document) {
    Snapshot& snapshot = heap.snapshot;
    name_threads(snapshot);
    ShortestPaths paths(snapshot, heap.graph, heap.budget);
    const HeapSettings& settings = run.settings;
    document->sections.push_back(
        of.objects.size() == 1
            ? object_path(snapshot, paths, of.objects[0], settings.steps)
            : class_paths(snapshot, paths, of, std::min<size_t>(settings.top, 10), settings.steps));
  });
}

Document run_dominators(HeapRun& run) {
  return answer_about_objects(run, [&](OpenHeap& heap, NamedObjects& of, Document* document) {
    heap.find_dominators();
    name_threads(heap.snapshot);
    TreeShape shape;
    shape.top = run.settings.top;
    document->sections.push_back(dominator_section(heap.snapshot, of, shape));
  });
}

Document run_retained(HeapRun& run) {
  return answer_about_objects(run, [&](OpenHeap& heap, NamedObjects& of, Document* document) {
    const Reach reach(heap.snapshot, heap.graph, heap.budget);
    if (keep_reached(reach, run, &of))
      document->sections.push_back(retained_section(heap.snapshot, reach, of, run.settings.top));
  });
}

Document run_objects(HeapRun& run) {
  return answer_about_objects(run, [&](OpenHeap& heap, NamedObjects& of, Document* document) {
    heap.find_dominators();
    document->sections.push_back(list_section(heap.snapshot, of, run.settings.top));
  });
}

Document run_show(HeapRun& run) {
  return answer_about_objects(run, [&](OpenHeap& heap, NamedObjects& of, Document* document) {
    if (!of.by_id && !keep_reached(Reach(heap.snapshot, heap.graph, heap.budget), run, &of)) return;
    std::vector<uint32_t> referrers = referrers_of(heap.graph, of.objects[0]);
    heap.find_dominators();
    name_threads(heap.snapshot);
    document->sections.push_back(object_section(heap.snapshot, of, referrers, run.settings.top));
  });
}

Document run_threads(HeapRun& run) {
  return answer(run, false, [&](OpenHeap& heap, Document* document) {
    heap.find_dominators();
    name_threads(heap.snapshot);
    document->sections.push_back(threads_section(heap.snapshot, run.settings.top));
  });
}

void use_heap(HeapRun& run, const std::function<void(const Snapshot&)>& use) {
  answer(run, false, [&](OpenHeap& heap, Document*) {
    name_threads(heap.snapshot);
    use(heap.snapshot);
  });
}

Document run_waste(HeapRun& run) {
  return answer(run, true, [&](OpenHeap& heap, Document* document) {
    heap.find_dominators();
    document->sections.push_back(waste_section(heap.snapshot, heap.budget, run.settings.top));
    document->sections.push_back(content_section(heap.snapshot, heap.budget, run.settings.top));
  });
}

Document run_references(HeapRun& run) {
  return answer(run, false, [&](OpenHeap& heap, Document* document) {
    ReferenceFinder finder(heap.snapshot, heap.graph, heap.budget);
    Arenas arenas(heap.snapshot, heap.graph, heap.budget);
    heap.find_dominators();
    document->sections = finder.sections(run.settings.top);
    document->sections.push_back(arenas.section(run.settings.top));
  });
}

Document run_find(HeapRun& run) {
  return answer(run, true, [&](OpenHeap& heap, Document* document) {
    heap.find_dominators();
    document->sections.push_back(find_section(heap.snapshot, run.settings.text, run.settings.top));
  });
}

Document run_rows(HeapRun& run, const std::string& fields, bool retained, std::ostream& out) {
  RowRequest request;
  request.json = run.settings.json;
  run.error = parse_paths(fields, &request.paths);
  if (!run.error.empty()) return {};
  request.retained = retained;
  for (const FieldPath& path : request.paths)
    retained = retained || path.steps.back().kind == StepKind::kRetainedBytes;
  OpenHeap heap(run, run.words[0]);
  if (!heap.good) return {};
  Snapshot& snapshot = heap.snapshot;
  NamedObjects named;
  if (!find_objects(snapshot, run.words[1], run.settings.subclasses, &named, &run.error)) return {};
  if (!named.by_id && !keep_reached(Reach(snapshot, heap.graph, heap.budget), run, &named)) return {};
  const BitArray strings = strings_of(snapshot, heap.budget);
  if (retained) heap.find_dominators();
  Document document;
  document.problems = snapshot.outline.problems;
  run.error = write_rows(snapshot, named.objects, strings, request, out, &run.notes);
  return document;
}

Document run_diff(HeapRun& run) {
  GroupsByName sums[2];
  RetainedByName classes[2];
  uint64_t bytes[2] = {};
  Document document;
  for (size_t i = 0; i < 2; ++i) {
    // One dump after the other: only the sums of the first are kept.
    OpenHeap heap(run, run.words[i]);
    if (!heap.good) return {};
    heap.find_dominators();
    document.sections.push_back(overview(heap.snapshot, run.words[i]));
    document.sections.back().key = i == 0 ? "before" : "after";
    sums[i] = class_sums(heap.snapshot);
    classes[i] = class_objects(heap.snapshot);
    bytes[i] = heap.snapshot.total_bytes();
    for (const std::string& problem : heap.snapshot.outline.problems)
      document.problems.push_back(run.words[i] + ": " + problem);
  }
  const Growth growth{sums[0], sums[1], bytes[0], bytes[1], classes[0], classes[1]};
  document.sections.insert(document.sections.begin(), diff_section(growth, run.settings.top));
  return document;
}

}  // namespace hprof::tool
