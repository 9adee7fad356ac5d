#include "tools/heap/questions/find_objects.h"

#include <set>

#include "core/base/text_tools.h"
#include "tools/format/ascii_lines.h"
#include "tools/format/wildcard.h"

namespace hprof::tool {

namespace {

constexpr size_t kNamesShown = 5;

// What follows the last '.' and `also`.
std::string short_name(const std::string& name, char also) {
  const size_t begin = name.find_last_of(std::string{'.', also});
  return begin == std::string::npos ? name : name.substr(begin + 1);
}

std::string listed(const std::set<std::string>& names) {
  std::string text;
  size_t count = 0;
  for (const std::string& name : names) {
    if (++count > kNamesShown) break;
    text += (text.empty() ? "" : ", ") + name;
  }
  if (names.size() > kNamesShown) text += " and " + std::to_string(names.size() - kNamesShown) + " more";
  return text;
}

// "; did you mean a.Session or b.Session?"
std::string similar(const std::vector<HeapClass>& classes, const std::string& name) {
  const std::string wanted = short_name(name, '$');
  uint32_t best = wanted.size() <= 3 ? 1 : 2;
  std::set<std::string> found;
  for (const HeapClass& each : classes) {
    const std::string own = short_name(each.name, '$');
    const uint32_t distance = name_distance({wanted.data(), wanted.size()}, {own.data(), own.size()}, best);
    if (own.empty() || distance > best) continue;
    if (distance < best) found.clear();
    best = distance;
    found.insert(each.name);
  }
  return found.empty() ? "" : "; did you mean " + listed(found) + "?";
}

// The names that a short name stands for.
std::set<std::string> names_of(const std::vector<HeapClass>& classes, const std::string& name) {
  for (char also : {'.', '$'}) {
    std::set<std::string> names;
    for (const HeapClass& each : classes) {
      if (short_name(each.name, also) == name) names.insert(each.name);
    }
    if (!names.empty()) return names;
  }
  return {};
}

bool find_class_objects(const Snapshot& snapshot, const std::string& name, bool subclasses,
                        NamedObjects* found, std::string* error) {
  NamedClasses classes;
  if (find_classes(snapshot, name, subclasses, &classes, error) != FoundClasses::kFound) return false;
  for (uint32_t i = 0; i < classes.wanted.size(); ++i) {
    const uint32_t object = classes.wanted[i] ? snapshot.mirror_of(i) : kNoObject;
    if (object != kNoObject) found->objects.push_back(object);
  }
  found->name = "class " + classes.name;
  if (found->objects.empty()) *error = "the dump has no class object of " + classes.name;
  return !found->objects.empty();
}

}  // namespace

FoundClasses find_classes(const Snapshot& snapshot, const std::string& name, bool subclasses,
                          NamedClasses* classes, std::string* error) {
  const HeapClasses& all = snapshot.outline.classes;
  const bool pattern = name.find_first_of("*?") != std::string::npos;
  classes->name = name;
  classes->wanted.assign(all.list.size(), false);
  auto choose = [&](auto&& chosen) {
    bool any = false;
    for (uint32_t i = 0; i < all.list.size(); ++i) {
      classes->wanted[i] = chosen(all.list[i].name);
      any = any || classes->wanted[i];
    }
    return any;
  };
  bool known = choose([&](const std::string& each) { return pattern ? matches(name, each) : each == name; });
  if (!known && pattern && name.find('.') == std::string::npos)
    known = choose([&](const std::string& each) { return matches(name, short_name(each, '.')); });
  if (!known && !pattern) {
    const std::set<std::string> names = names_of(all.list, name);
    if (names.size() > 1) {
      *error = name + " is the short name of several classes: " + listed(names);
      return FoundClasses::kSeveral;
    }
    if (!names.empty()) {
      classes->name = *names.begin();
      known = choose([&](const std::string& each) { return each == classes->name; });
    }
  }
  if (!known) {
    *error = "no class " + name + (pattern ? "" : similar(all.list, name));
    return FoundClasses::kNone;
  }
  if (subclasses) {
    const std::vector<bool> bases = classes->wanted;
    for (uint32_t i = 0; i < all.list.size(); ++i) {
      uint32_t above = i;
      for (unsigned depth = 0; above != kNoClass && depth < HeapClasses::kDeepest; ++depth) {
        if (bases[above]) classes->wanted[i] = true;
        above = all.list[above].super;
      }
    }
    classes->name += " and its subclasses";
  }
  return FoundClasses::kFound;
}

bool find_objects(const Snapshot& snapshot, const std::string& what, bool subclasses, NamedObjects* found,
                  std::string* error) {
  static const std::string kClassPrefix = "class:";
  if (what.rfind(kClassPrefix, 0) == 0)
    return find_class_objects(snapshot, what.substr(kClassPrefix.size()), subclasses, found, error);
  if (what.rfind("0x", 0) == 0) {
    uint64_t id = 0;
    Scan scan(what);
    if (!scan.literal("0x") || !scan.hexadecimal(&id) || !scan.done()) {
      *error = what + " is no id: 1 to 16 digits 0-9 and a-f follow 0x";
      return false;
    }
    const uint32_t object = snapshot.numbers.number_of(id);
    found->name = what;
    found->by_id = true;
    if (object == kNoObject) {
      *error = "no object " + what;
    } else {
      found->objects = {object};
    }
    return object != kNoObject;
  }
  NamedClasses classes;
  if (find_classes(snapshot, what, subclasses, &classes, error) != FoundClasses::kFound) return false;
  found->name = classes.name;
  for (uint32_t object = 0; object < snapshot.numbers.size(); ++object) {
    if (classes.wanted[snapshot.class_of(object)]) found->objects.push_back(object);
  }
  if (found->objects.empty())
    *error = "class " + classes.name + " has no instances (class:" + what + " is the class object)";
  return !found->objects.empty();
}

}  // namespace hprof::tool
