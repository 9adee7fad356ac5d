#include "tools/heap/questions/owners.h"

#include <algorithm>
#include <map>

namespace hprof::tool {

namespace {

bool is_of_jdk(const HeapClass& of) {
  if (of.is_array() && of.element != HPROF_TYPE_OBJECT) return true;
  for (const char* prefix : {"java.", "javax.", "jdk.", "sun.", "com.sun.", "["}) {
    if (of.name.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> find_owners(const Snapshot& snapshot, size_t count,
                                     const std::function<uint32_t(size_t)>& place_of,
                                     const std::function<void(size_t, uint32_t)>& found) {
  const std::vector<HeapClass>& classes = snapshot.outline.classes.list;
  std::vector<bool> of_jdk;
  IdMap<uint32_t> mirrors;  // class by the place of its class object
  for (uint32_t i = 0; i < classes.size(); ++i) {
    of_jdk.push_back(is_of_jdk(classes[i]));
    const uint32_t object = snapshot.mirror_of(i);
    if (snapshot.is_reached(object)) mirrors[snapshot.place_of(object)] = i;
  }
  std::vector<std::string> names = {"(GC roots alone)"};
  std::map<std::string, uint32_t> known;
  auto name_of = [&](uint32_t place) {
    if (place == 0) return uint32_t{0};
    const auto mirror = mirrors.find(place);
    const auto index = static_cast<uint32_t>(snapshot.class_at.get(place));
    const std::string name = mirror != mirrors.end()          ? "class " + classes[mirror->second].name
                             : index == Snapshot::kStackClass ? "(stack of a thread)"
                                                              : classes[index].name;
    const auto [at, fresh] = known.try_emplace(name, static_cast<uint32_t>(names.size()));
    if (fresh) names.push_back(name);
    return at->second;
  };
  // The dominators of a place, each with its owner.
  struct Above {
    uint32_t end, owner;
    bool found;  // the owner is not of the JDK
  };
  std::vector<Above> above;
  size_t next = 0;
  for (uint32_t place = 1; place <= snapshot.tree.reached && next < count; ++place) {
    while (!above.empty() && place >= above.back().end) above.pop_back();
    for (; next < count && place_of(next) == place; ++next)
      found(next, name_of(above.empty() ? 0 : above.back().owner));
    const auto mirror = mirrors.find(place);
    const auto index = static_cast<uint32_t>(snapshot.class_at.get(place));
    const bool own = mirror != mirrors.end()          ? !of_jdk[mirror->second]
                     : index == Snapshot::kStackClass ? above.empty() || !above.back().found
                                                      : !of_jdk[index];
    Above here = {snapshot.end_of(place), place, own};
    if (!own && !above.empty()) here = {here.end, above.back().owner, above.back().found};
    above.push_back(here);
  }
  return names;
}

Owners owners_of(const Snapshot& snapshot, const std::vector<uint32_t>& objects) {
  std::vector<std::pair<uint32_t, size_t>> wanted;
  for (size_t i = 0; i < objects.size(); ++i) {
    if (snapshot.is_reached(objects[i])) wanted.emplace_back(snapshot.place_of(objects[i]), i);
  }
  std::sort(wanted.begin(), wanted.end());
  Owners owners;
  owners.of.resize(objects.size());
  owners.names = find_owners(
      snapshot, wanted.size(), [&](size_t i) { return wanted[i].first; },
      [&](size_t i, uint32_t owner) { owners.of[wanted[i].second] = owner; });
  return owners;
}

}  // namespace hprof::tool
