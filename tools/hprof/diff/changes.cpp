#include "tools/hprof/diff/changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

namespace hprof::tool {

namespace {

// A callee explains the change of what one caller calls of it if all of the callee changed by this part of it
// or more, relatively: a callee that one of its callers no longer calls did not change as much.
constexpr double kAsMuch = 0.75;
// A caller whose relative change is larger is nearly new or gone, and its callees with it: only one that has
// nearly all of the change explains it.
constexpr double kNearlyAll = 0.9;

// A method's stacks, each in one part: that of the callee of its innermost frame, or `self`.
struct Parts {
  Sides self, counted, total;
  std::map<size_t, Sides> callees;  // by place
  size_t stack = 0;                 // the last one that was added
};

class Places {
 public:
  explicit Places(std::string (*text)(const ProfileFrame&)) : text_(text) {}

  void add(const ComparedTable& from, double Sides::*side, double scale) {
    for (const ProfileRow& row : from.table.rows) {
      std::vector<size_t> stack;
      for (const ProfileFrame& frame : frames_of(from.profile, row)) stack.push_back(place_of(text_(frame)));
      if (stack.empty()) stack.push_back(place_of(kEmptyTrace));
      add(stack, static_cast<double>(row.values[from.weight]) * scale, side);
      if (from.beside != SIZE_MAX)
        parts_[stack[0]].counted.*side += static_cast<double>(row.values[from.beside]) * scale;
    }
  }

  std::vector<PlaceChange> take() {
    std::vector<PlaceChange> changes;
    for (size_t i = 0; i < parts_.size(); ++i)
      changes.push_back({names_[i], parts_[i].self, parts_[i].counted, parts_[i].total, own_of(parts_[i])});
    return changes;
  }

 private:
  size_t place_of(std::string name) {
    const auto [found, fresh] = numbers_.try_emplace(name, parts_.size());
    if (fresh) {
      names_.push_back(std::move(name));
      parts_.emplace_back();
    }
    return found->second;
  }

  // The innermost frame comes first.
  void add(const std::vector<size_t>& stack, double value, double Sides::*side) {
    ++stacks_;
    for (size_t i = 0; i < stack.size(); ++i) {
      Parts& parts = parts_[stack[i]];
      if (parts.stack == stacks_) continue;  // an outer frame of a recursive method
      parts.stack = stacks_;
      parts.total.*side += value;
      Sides& part = i == 0 ? parts.self : parts.callees[stack[i - 1]];
      part.*side += value;
    }
  }

  Sides own_of(const Parts& caller) const {
    Sides own = caller.total;
    const bool is_new_or_gone = caller.total.relative() > kNearlyAll;
    for (const auto& [callee, part] : caller.callees) {
      const Sides& all = parts_[callee].total;
      const bool changed_as_much =
          all.change() * part.change() >= 0 && all.relative() >= kAsMuch * part.relative();
      const bool has_all = std::abs(part.change()) >= kNearlyAll * std::abs(caller.total.change());
      if (!changed_as_much || (is_new_or_gone && !has_all)) continue;
      own.before -= part.before;
      own.after -= part.after;
    }
    // What it now does itself instead of calling it is a change, too.
    return std::abs(caller.self.change()) > std::abs(own.change()) ? caller.self : own;
  }

  std::string (*text_)(const ProfileFrame&);
  std::unordered_map<std::string, size_t> numbers_;  // in parts_
  std::vector<std::string> names_;
  std::vector<Parts> parts_;
  size_t stacks_ = 0;
};

}  // namespace

double Sides::relative() const {
  const double larger = std::max(before, after);
  return larger == 0 ? 0 : std::abs(change()) / larger;
}

double Sampling::error(const Sides& sides) const {
  return sample == 0
             ? 0
             : 2 * std::sqrt((sides.before * scale + sides.after) * sample) + sample * std::max(1.0, scale);
}

std::vector<PlaceChange> changes_by_place(const ComparedTable& before, const ComparedTable& after,
                                          std::string (*text)(const ProfileFrame&), double scale) {
  Places places(text);
  places.add(before, &Sides::before, scale);
  places.add(after, &Sides::after, 1);
  return places.take();
}

void put_largest_first(std::vector<PlaceChange>* changes, Sides PlaceChange::*key, const Sampling& sampling) {
  const auto rank = [&](const PlaceChange& place) {
    const double total = std::abs(place.total.change()), self = std::abs(place.self.change());
    // What moved from a callee into its caller changed in the callee.
    const double size = std::min(std::abs((place.*key).change()), std::max(total, self));
    return std::make_tuple(sampling.explains(place.*key), -size, -place.total.relative(), -self);
  };
  std::stable_sort(changes->begin(), changes->end(),
                   [&](const PlaceChange& a, const PlaceChange& b) { return rank(a) < rank(b); });
}

}  // namespace hprof::tool
