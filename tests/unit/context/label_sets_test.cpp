// Numbers of label sets: one for each text, until the session ends or there are too many.
#include "plugins/context/label_sets.h"

#include <doctest/doctest.h>
#include <set>

using namespace hprof::context;

TEST_CASE("a text has one number, which gives it back") {
  LabelSets sets;
  sets.begin();
  const uint32_t one = sets.number_of(17, LabelSets::kMost), other = sets.number_of(18, LabelSets::kMost);
  CHECK(one != 0);
  CHECK(one != other);
  CHECK(sets.number_of(17, LabelSets::kMost) == one);
  CHECK(sets.text_of(one) == 17);
  CHECK(sets.text_of(other) == 18);
  CHECK(sets.number_of(0, LabelSets::kMost) == 0);
  CHECK(sets.text_of(0) == 0);
  CHECK(sets.text_of(one + 1) == 0);
}

TEST_CASE("numbers of an earlier session stand for nothing") {
  LabelSets sets;
  sets.begin();
  const uint32_t before = sets.number_of(17, LabelSets::kMost);
  sets.begin();
  CHECK(sets.text_of(before) == 0);
  const uint32_t now = sets.number_of(17, LabelSets::kMost);
  CHECK(now != before);
  CHECK(sets.text_of(now) == 17);
  for (uint32_t session = 0; session < 40000; session++) sets.begin();
  CHECK(sets.number_of(17, LabelSets::kMost) != 0);
  CHECK(static_cast<int32_t>(sets.number_of(17, LabelSets::kMost)) > 0);
}

TEST_CASE("there are as many as are asked for, and one more on request") {
  LabelSets sets;
  sets.begin();
  std::set<uint32_t> numbers;
  for (uint32_t text = 1; text <= LabelSets::kMost; text++)
    numbers.insert(sets.number_of(text, LabelSets::kMost));
  CHECK(numbers.size() == LabelSets::kMost);
  CHECK(numbers.count(0) == 0);
  const uint32_t text = LabelSets::kMost + 1;
  CHECK(sets.number_of(text, LabelSets::kMost) == 0);
  const uint32_t other = sets.number_of(text, LabelSets::kMost + 1);
  CHECK(sets.text_of(other) == text);
  CHECK(sets.number_of(text, LabelSets::kMost) == other);
}
