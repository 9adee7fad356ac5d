// The options, split into names and values.
//
// "k=v,k=v": a value ends at the next ',' and may contain '=' and ':'. Blanks before a name and one ',' at
// the end are skipped. `help` has no value, help=plugins lists the modules, help=units also describes their
// units. Names are case-sensitive. The environment variable _JAVA_HPROF_OPTIONS is appended with a comma, as
// in the original: its options replace those of the command line; an option given twice in one of the two is
// refused. format=<name>_events is format=<name>,events=y.
#pragma once

#include "core/base/build.h"
#include "core/base/message.h"
#include "core/base/text.h"

namespace hprof {

constexpr const char* kOptionEnvironment = "_JAVA_HPROF_OPTIONS";

struct OptionItem {
  Str name;
  const char* value = nullptr;  // NUL-terminated, lives as long as the list
  bool has_value = true;        // false: only the name was typed; the value is ""
  bool from_environment = false;
  bool replaced = false;  // by the environment: ignored
};

// The help that an option requests.
enum class Help : uint32_t { kNone, kOptions, kPlugins, kUnits };

// About 18 KiB: a part of the session, too large for a stack. [onload] one thread.
class OptionList {
 public:
  static constexpr size_t kTextMost = kEmbedded ? 1024 : 8192;
  static constexpr uint32_t kItemsMost = kEmbedded ? 48 : 128;

  // Copies and splits both texts; either may be empty. False: *error says why; the list has the options
  // before that.
  bool parse(Str text, Str environment, Error* error);

  Help help() const { return help_; }
  Str whole() const { return Str(whole_, size_); }  // for errors
  uint32_t count() const { return count_; }         // replaced ones included
  const OptionItem& operator[](uint32_t index) const { return items_[index]; }
  // The option in force, or nullptr.
  const OptionItem* find(Str name) const;

 private:
  bool append(Str text, bool from_environment, Error* error);
  bool add_help(Str value, Error* error);
  bool add(char* begin, char* end, bool from_environment, Error* error);

  char whole_[kTextMost] = {};
  char cells_[kTextMost] = {};  // the text with NULs for commas
  size_t size_ = 0;
  OptionItem items_[kItemsMost];
  uint32_t count_ = 0;
  Help help_ = Help::kNone;
};

// Sets "HPROF ERROR: hprof option error: <what> (<the options>)", the original's text without its source
// position. `after` follows the parenthesis. Returns false. [any]
bool option_error(const OptionList& list, Str what, Error* error, Str after = Str());

}  // namespace hprof
