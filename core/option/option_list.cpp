#include "core/option/option_list.h"

namespace hprof {

bool option_error(const OptionList& list, Str what, Error* error, Str after) {
  constexpr size_t kOptionsShown = 200;
  TextWriter out(error->text, sizeof(error->text));
  out.put("HPROF ERROR: hprof option error: ").put_printable(what).put(" (");
  out.put_printable(list.whole(), kOptionsShown).put(")").put_printable(after);
  return false;
}

bool OptionList::parse(Str text, Str environment, Error* error) {
  size_ = 0;
  count_ = 0;
  help_ = Help::kNone;
  return append(text, false, error) && append(environment, true, error);
}

bool OptionList::append(Str text, bool from_environment, Error* error) {
  if (text.empty()) return true;
  const bool comma = size_ != 0;
  if (text.size >= kTextMost || size_ + (comma ? 1 : 0) + text.size >= kTextMost) {
    return option_error(*this, "more than 8191 bytes of options", error);
  }
  if (comma) whole_[size_++] = ',';
  const size_t start = size_;
  memcpy(whole_ + start, text.data, text.size);
  size_ += text.size;
  whole_[size_] = '\0';
  memcpy(cells_ + start, text.data, text.size);
  cells_[size_] = '\0';
  if (memchr(text.data, '\0', text.size) != nullptr) {
    return option_error(*this, "a NUL byte in the options", error);
  }
  for (size_t at = start; at < size_;) {
    const size_t end = Str(cells_, size_).find(',', at);
    cells_[end] = '\0';
    if (!add(cells_ + at, cells_ + end, from_environment, error)) return false;
    at = end + 1;
  }
  return true;
}

bool OptionList::add_help(Str value, Error* error) {
  help_ = value.empty()        ? Help::kOptions
          : value == "plugins" ? Help::kPlugins
          : value == "units"   ? Help::kUnits
                               : Help::kNone;
  return help_ != Help::kNone ||
         option_error(*this, "help option value must be plugins, units, or none", error);
}

bool OptionList::add(char* begin, char* end, bool from_environment, Error* error) {
  char text[160];
  TextWriter what(text, sizeof(text));
  while (begin < end && (*begin == ' ' || *begin == '\t')) ++begin;
  const Str item(begin, static_cast<size_t>(end - begin));
  const size_t equals = item.find('=');
  const Str name = item.part(0, equals);
  if (name == "help") return add_help(item.part(equals + 1), error);
  if (name.empty()) {
    what.put("general syntax error parsing options: ");
    what.put(item.empty() ? "nothing between two commas" : "a value without a name");
    return option_error(*this, what.text(), error);
  }
  for (uint32_t i = 0; i < count_; ++i) {
    if (items_[i].replaced || items_[i].name != name) continue;
    if (items_[i].from_environment == from_environment) {
      what.put("option given twice: ").put_printable(name, 60);
      return option_error(*this, what.text(), error);
    }
    items_[i].replaced = true;
  }
  if (count_ == kItemsMost) return option_error(*this, "too many options", error);
  OptionItem& added = items_[count_++];
  added = OptionItem();
  added.name = name;
  added.has_value = equals < item.size;
  added.value = added.has_value ? begin + equals + 1 : end;
  added.from_environment = from_environment;
  // The name of 1.0.0.
  constexpr Str kOldEnding("_events");
  if (name != "format" || item.size < kOldEnding.size || item.part(item.size - kOldEnding.size) != kOldEnding)
    return true;
  end[-static_cast<ptrdiff_t>(kOldEnding.size)] = '\0';
  static char events[] = "events=y";
  return add(events, events + sizeof events - 1, from_environment, error);
}

const OptionItem* OptionList::find(Str name) const {
  for (uint32_t i = 0; i < count_; ++i) {
    if (!items_[i].replaced && items_[i].name == name) return &items_[i];
  }
  return nullptr;
}

}  // namespace hprof
