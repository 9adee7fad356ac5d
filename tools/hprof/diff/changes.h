// What changed between two tables of weighted stacks, by method or source line.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tools/hprof/print/profile_sums.h"

namespace hprof::tool {

// A value in both files.
struct Sides {
  double before = 0, after = 0;

  double change() const { return after - before; }
  // The change as a part of the larger side: 0 is the same, 1 is in one file only.
  double relative() const;
};

// How far sampling makes a value vary.
struct Sampling {
  double sample = 0;        // what a sample stands for; 0: the values are exact
  double scale = 1;         // what the values of `before` were multiplied by
  bool lacks_rows = false;  // a row that is not there may have been left out

  // Two standard errors of a change, and one sample: few samples vary by more than their standard error says.
  double error(const Sides& sides) const;
  bool explains(const Sides& sides) const { return error(sides) > std::abs(sides.change()); }
};

// A method or a source line.
struct PlaceChange {
  std::string place;
  Sides self;     // of stacks with it as the innermost frame
  Sides counted;  // the same of the column beside, such as calls
  Sides total;    // of stacks that contain it, each once
  Sides own;      // the part of `total` that its callees do not explain, or `self` if that changed more
};

struct ComparedTable {
  const Profile& profile;
  const ProfileTable& table;
  size_t weight, beside;  // beside: SIZE_MAX: none
};

// `text` names the place of a frame: frame_text or method_text. scale: what to multiply the values of
// `before` by.
std::vector<PlaceChange> changes_by_place(const ComparedTable& before, const ComparedTable& after,
                                          std::string (*text)(const ProfileFrame&), double scale);

// Puts the largest changes of `key` first, and behind all others those that sampling explains.
void put_largest_first(std::vector<PlaceChange>* changes, Sides PlaceChange::*key, const Sampling& sampling);

}  // namespace hprof::tool
