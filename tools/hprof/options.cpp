// Parses a command line into the options and words of a command.
#include <algorithm>

#include "core/base/text_tools.h"
#include "core/base/value.h"
#include "tools/hprof/command.h"

namespace hprof::tool {

namespace {

Str str(const std::string& text) { return Str(text.data(), text.size()); }

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<std::string> names_of(const Rows<Verb>& verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.name);
  return names;
}

// The number of words in a text such as "FILE [ID]".
struct WordCount {
  explicit WordCount(const std::string& text) {
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
      end = std::min(text.find(' ', at), text.size());
      const std::string word = text.substr(at, end - at);
      if (word[0] != '[') least++;
      most = word.find("...") != std::string::npos || most == SIZE_MAX ? SIZE_MAX : most + 1;
    }
  }
  bool fits(const Arguments& words) const { return words.size() >= least && words.size() <= most; }

  size_t least = 0, most = 0;
};

// What is wrong with the value, or "".
std::string fault_of(const OptionRow& option, const std::string& value) {
  uint64_t number = 0;
  if (option.kind == ValueKind::kSize) {
    const bool good = parse_size(str(value), &number) && number != 0;
    return good ? "" : option_text(option) + " takes bytes, or 700m, 4g";
  }
  if (option.kind == ValueKind::kText ||
      (parse_number(value, option.most, &number) && number >= option.least))
    return "";
  return option_text(option) + " takes a number from " + std::to_string(option.least) + " to " +
         std::to_string(option.most);
}

}  // namespace

struct Parser {
  const Command& command;
  const Verb& verb;
  Given* given;
  std::string error = {};

  bool run(const Arguments& arguments) {
    const std::string pattern = verb.words;
    const size_t apart = pattern.find("-- ");
    given->command_ = &command;
    // The first verb is the one that need not be typed.
    const std::string name = &verb == command.verbs.begin() ? "" : std::string(verb.name) + ' ';
    const std::string expected = "expected " + name + (pattern.empty() ? "options only" : pattern);
    error = expected;
    // Options of the profiled program are not the tool's.
    if (apart != std::string::npos && std::find(arguments.begin(), arguments.end(), "--") == arguments.end())
      return false;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const std::string& argument = arguments[i];
      if (argument == "--" && pattern.find("[--]") != std::string::npos && !given->words.empty()) {
        given->split = given->words.size();
        continue;
      }
      if (argument == "--") {
        Arguments& rest = apart == std::string::npos ? given->words : given->rest;
        rest.insert(rest.end(), arguments.begin() + static_cast<long>(i) + 1, arguments.end());
        break;
      }
      if (argument.size() < 2 || argument[0] != '-') {
        given->words.push_back(argument);
      } else if (!take(arguments, &i)) {
        return false;
      }
    }
    for (const OptionRow& option : verb.options) {
      if (!option.needed || given->has(option.name)) continue;
      error = option_text(option) + " is missing";
      return false;
    }
    const WordCount words(pattern.substr(0, apart));
    const WordCount rest(apart == std::string::npos ? "" : pattern.substr(apart + 3));
    error = expected;
    return words.fits(given->words) && rest.fits(given->rest);
  }

 private:
  const OptionRow* find(const std::string& name) const {
    for (const Rows<OptionRow>& rows : {verb.options, command.common})
      for (const OptionRow& row : rows)
        if (name == row.name) return &row;
    return nullptr;
  }

  // Takes `--name`, `--name=value` or `--name value`.
  bool take(const Arguments& arguments, size_t* at) {
    const std::string& argument = arguments[*at];
    const size_t equals = argument.find('=');
    const OptionRow* option = find(argument.substr(0, equals));
    if (option == nullptr) return fail_of(argument.substr(0, equals));
    std::string value;
    if (equals != std::string::npos) value = argument.substr(equals + 1);
    if (option->value == nullptr && equals != std::string::npos) {
      error = std::string(option->name) + " takes no value";
      return false;
    }
    if (option->value != nullptr && equals == std::string::npos) {
      if (*at + 1 == arguments.size()) {
        error = option_text(*option) + ": the value is missing";
        return false;
      }
      value = arguments[++*at];
    }
    error = fault_of(*option, value);
    given->options_.emplace_back(option, value);
    return error.empty();
  }

  bool fail_of(const std::string& name) {
    std::vector<std::string> names;
    for (const Rows<OptionRow>& rows : {verb.options, command.common})
      for (const OptionRow& row : rows) names.push_back(row.name);
    std::string after = guess(name, names);
    if (after.empty() && !names.empty()) after = "; options are: " + joined(names);
    error = "unknown option " + name + after;
    return false;
  }
};

const std::string* Given::find(const char* option) const {
  const std::string name = option;
  for (size_t i = options_.size(); i-- > 0;)
    if (name == options_[i].first->name) return &options_[i].second;
  return nullptr;
}

std::string Given::text(const char* option, const char* otherwise) const {
  const std::string* value = find(option);
  return value != nullptr ? *value : otherwise;
}

uint64_t Given::number(const char* option, uint64_t otherwise) const {
  const std::string* value = find(option);
  uint64_t number = 0;
  return value != nullptr && parse_size(str(*value), &number) ? number : otherwise;
}

std::vector<std::string> Given::all(const char* option) const {
  std::vector<std::string> values;
  for (const auto& [row, value] : options_)
    if (std::string(option) == row->name) values.push_back(value);
  return values;
}

bool parse_number(const std::string& text, uint64_t most, uint64_t* number) {
  return parse_decimal(str(text), number) && *number <= most;
}

bool take_process(Arguments* words, int* pid) {
  for (auto word = words->begin(); word != words->end(); ++word) {
    uint64_t number = 0;
    if (!parse_number(*word, INT32_MAX, &number) || number == 0) continue;
    *pid = static_cast<int>(number);
    words->erase(word);
    return true;
  }
  return false;
}

std::string guess(const std::string& word, const std::vector<std::string>& names) {
  uint32_t best = word.size() <= 3 ? 2 : 3;
  std::string found;
  for (const std::string& name : names) {
    const uint32_t distance = name_distance(str(word), str(name), best);
    if (distance >= best) continue;
    best = distance;
    found = "; did you mean " + name + "?";
  }
  return found;
}

bool parse(const Command& command, Arguments arguments, Given* given, const Verb** verb, std::string* error) {
  const std::vector<std::string> names = names_of(command.verbs);
  const auto named = arguments.empty() ? names.end() : std::find(names.begin(), names.end(), arguments[0]);
  const bool is_named = named != names.end() && !named->empty();
  *verb = command.verbs.first + (is_named ? named - names.begin() : 0);
  if (is_named) arguments.erase(arguments.begin());
  Parser parser{command, **verb, given};
  given->command_ = &command;
  const bool may_be_named = command.verbs.count > 1 && !is_named;
  if ((!may_be_named || command.first_is_default) && parser.run(arguments)) return true;
  *error = parser.error;
  const std::string like = may_be_named && !arguments.empty() ? guess(arguments[0], names) : "";
  if (!like.empty()) {
    *error = "no command '" + arguments[0] + "'" + like;
  } else if (may_be_named && given->words.size() > 1 && given->words[0] == arguments[0] &&
             parser.error.rfind("expected ", 0) == 0) {
    *error += "; '" + arguments[0] + "' is no command, which are: " + joined(names);
  } else if (may_be_named && !command.first_is_default) {
    *error = "expected one of " + joined(names);
  }
  return false;
}

}  // namespace hprof::tool
