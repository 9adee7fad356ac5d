#include "tools/heap/questions/loaded_twice.h"

#include <algorithm>
#include <map>

#include "tools/heap/questions/collections.h"
#include "tools/heap/questions/heap_tables.h"
#include "tools/heap/read/object_values.h"

namespace hprof::tool {

namespace {

// Loaders of one class are compared with the first of at most so many applications.
constexpr size_t kMostApplications = 64;
constexpr size_t kMostPlaces = 64;

struct Loader {
  uint64_t id;
  std::vector<uint32_t> names, packages;  // sorted numbers
  std::string places;                     // where it loads classes from; "": not known
};

struct Application {
  std::vector<const Loader*> loaders;
};

// Whether `some` has an element that `all` lacks.
bool has_own(const std::vector<uint32_t>& some, const std::vector<uint32_t>& all) {
  return !std::includes(all.begin(), all.end(), some.begin(), some.end());
}
bool have_common(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](uint32_t each) { return std::binary_search(b.begin(), b.end(), each); });
}

// A reload loads the packages that the first load had, or some of them, or more.
bool same_application(const Loader& a, const Loader& b) {
  if (!a.places.empty() && !b.places.empty()) return a.places == b.places;
  return have_common(a.names, b.names) &&
         !(has_own(a.packages, b.packages) && has_own(b.packages, a.packages));
}

class LoaderReader {
 public:
  explicit LoaderReader(const Snapshot& snapshot) : snapshot_(snapshot) {}

  std::vector<LoadedTwice> run() {
    std::map<uint64_t, Loader> loaders;
    std::map<std::string, uint32_t> names, packages;
    auto number = [](std::map<std::string, uint32_t>& all, const std::string& text) {
      return all.try_emplace(text, static_cast<uint32_t>(all.size())).first->second;
    };
    for (const HeapClass& each : snapshot_.outline.classes.list) {
      // Hidden and generated classes have equal names by design.
      if (!each.dumped || each.loader == 0 || each.is_array() || each.name.find("$$") != std::string::npos)
        continue;
      const uint32_t loader = snapshot_.numbers.number_of(each.loader);
      if (!snapshot_.is_reached(loader)) continue;
      Loader& of = loaders[each.loader];
      of.id = each.loader;
      of.names.push_back(number(names, each.name));
      of.packages.push_back(number(packages, package_of(each.name)));
    }
    std::map<uint32_t, std::vector<Loader*>> by_class;
    for (auto& [id, loader] : loaders) {
      for (std::vector<uint32_t>* each : {&loader.names, &loader.packages}) {
        sort_numbers(each);
      }
      by_class[snapshot_.class_of(snapshot_.numbers.number_of(id))].push_back(&loader);
    }
    std::vector<std::string> texts(names.size());
    for (const auto& [text, at] : names) texts[at] = text;
    std::vector<LoadedTwice> found;
    for (auto& [index, of] : by_class) {
      if (of.size() < 2) continue;
      read_places(of);
      for (const Application& each : applications_of(of)) {
        if (each.loaders.size() < 2) continue;
        const std::string& places = each.loaders[0]->places;
        found.push_back({index, {}, repeated_of(each, texts), places.substr(0, places.find('\n'))});
        for (const Loader* loader : each.loaders) found.back().loaders.push_back(loader->id);
      }
    }
    return found;
  }

 private:
  // Reads the URLs of a java.net.URLClassLoader. Tomcat's class loaders have theirs in a list of their own.
  void read_places(const std::vector<Loader*>& loaders) {
    const uint32_t url_loader = snapshot_.outline.classes.named("java.net.URLClassLoader");
    const uint32_t index = snapshot_.class_of(snapshot_.numbers.number_of(loaders[0]->id));
    if (url_loader == kNoClass || !snapshot_.outline.classes.extends(index, url_loader)) return;
    read_places(loaders, {"ucp", "path"});
    read_places(loaders, {"ucp", "searchPath"});  // JDK 27
    read_places(loaders, {"localRepositories"});
  }
  // The same, of the list of URLs that the fields lead to from a loader.
  void read_places(const std::vector<Loader*>& loaders, const std::vector<const char*>& fields) {
    const ObjectFetcher fetcher(snapshot_);
    std::vector<uint32_t> at;
    for (const Loader* each : loaders) at.push_back(snapshot_.numbers.number_of(each->id));
    for (const char* field : fields) {
      const std::vector<ObjectValues> values = fetcher.fetch(at);
      for (size_t i = 0; i < at.size(); ++i) at[i] = fetcher.target(values[i], field);
    }
    const std::vector<ObjectValues> lists = fetcher.fetch(at);
    for (size_t i = 0; i < std::min(lists.size(), kMostApplications); ++i) {
      std::vector<uint32_t> urls;
      for (const auto& entry : entries_of(snapshot_, lists[i], kMostPlaces).list)
        urls.push_back(snapshot_.numbers.number_of(entry.first));
      std::vector<uint32_t> files;
      for (const ObjectValues& url : fetcher.fetch(urls)) files.push_back(fetcher.target(url, "file"));
      std::vector<std::string> texts = fetcher.texts(files);
      std::sort(texts.begin(), texts.end());
      for (const std::string& text : texts) loaders[i]->places += text + '\n';
    }
  }

  static std::vector<Application> applications_of(const std::vector<Loader*>& loaders) {
    std::vector<Application> all;
    for (const Loader* loader : loaders) {
      const auto same = std::find_if(all.begin(), all.end(), [&](const Application& each) {
        return same_application(*each.loaders[0], *loader);
      });
      if (same != all.end()) {
        same->loaders.push_back(loader);
      } else if (all.size() < kMostApplications) {
        all.push_back({{loader}});
      }
    }
    return all;
  }

  // The class that most of the loaders have loaded, the first by name.
  static std::string repeated_of(const Application& of, const std::vector<std::string>& names) {
    std::map<uint32_t, size_t> counts;
    for (const Loader* loader : of.loaders) {
      for (uint32_t name : loader->names) ++counts[name];
    }
    const std::string* best = nullptr;
    size_t most = 0;
    for (const auto& [name, count] : counts) {
      if (count < most || (count == most && best != nullptr && *best <= names[name])) continue;
      most = count;
      best = &names[name];
    }
    return best == nullptr ? "" : *best;
  }

  const Snapshot& snapshot_;
};

}  // namespace

std::vector<LoadedTwice> loaded_twice(const Snapshot& snapshot) { return LoaderReader(snapshot).run(); }

}  // namespace hprof::tool
