// Completion for bash and zsh: commands of bin/hprof, the options on their pages, options of the agent and
// their values, commands of a running agent.
#include <algorithm>

#include "core/control/command_table.h"
#include "tools/hprof/command.h"
#include "tools/manual/manual.h"

namespace hprof::manual {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

void add_once(const std::string& word, std::vector<std::string>* words) {
  if (std::find(words->begin(), words->end(), word) == words->end()) words->push_back(word);
}

// "--top=N" -> "--top="
void add_option(std::string word, std::vector<std::string>* words) {
  word = word.substr(0, word.find_first_of(" []"));
  const size_t equals = word.find('=');
  if (equals != std::string::npos) word.resize(equals + 1);
  add_once(word, words);
}

// Options in the synopsis of a help page, "[-o FILE]", and those explained in a line of their own, " --top=N
// rows ...".
std::vector<std::string> options_on_page(const std::string& page) {
  std::vector<std::string> words;
  const std::string usage = page.substr(0, page.find("\n\n"));
  for (size_t at = usage.find("[-"); at != std::string::npos; at = usage.find("[-", at + 1))
    add_option(usage.substr(at + 1), &words);
  for (size_t at = page.find("\n  -"); at != std::string::npos; at = page.find("\n  -", at + 1))
    add_option(page.substr(at + 3), &words);
  return words;
}

// The subcommands of a command: `hprof heap leaks`, `hprof plugin list`.
std::vector<std::string> words_on_page(const std::string& name, const std::string& page) {
  std::vector<std::string> words;
  const std::string start = "hprof " + name + " ";
  for (size_t at = 0; at < page.size();) {
    const size_t end = std::min(page.find('\n', at), page.size());
    std::string line = page.substr(at, end - at);
    at = end + 1;
    if (line.empty()) break;
    if (line.compare(0, start.size(), start) != 0) continue;
    line = line.substr(start.size());
    if (line[0] == '[') line = line.substr(1);
    const size_t letters = std::min(line.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), line.size());
    const bool is_word =
        letters != 0 && (letters == line.size() || line[letters] == ' ' || line[letters] == ']');
    if (is_word) add_once(line.substr(0, letters), &words);
  }
  return words;
}

std::vector<std::string> agent_commands() {
  std::vector<std::string> words;
  for (const CommandRow& row : kCommands) {
    const std::string text = row.words;
    add_once(text.substr(0, text.find(' ')), &words);
  }
  return words;
}

// case lines of a shell: one for each command of bin/hprof.
std::string cases(const char* variable) {
  std::string text;
  for (const tool::ToolCommand& command : tool::tool_commands()) {
    const std::string page = tool::help_text(command.name);
    std::vector<std::string> words = words_on_page(command.name, page);
    for (const std::string& option : options_on_page(page)) add_once(option, &words);
    text += std::string("    ") + command.name + ") " + variable + "='" + join(words) + " --help' ;;\n";
  }
  return text;
}

std::string option_names(const std::vector<Option>& options) {
  std::vector<std::string> names;
  for (const Option& option : options) add_once(option.name + "=", &names);
  return join(names);
}

std::string value_cases(const std::vector<Option>& options, const char* indent) {
  std::string text;
  for (const Option& option : options) {
    const std::vector<std::string> values = fixed_values(option);
    if (!values.empty()) text += std::string(indent) + option.name + ") values='" + join(values) + "' ;;\n";
  }
  return text;
}

// Options whose value is a path.
std::string path_options(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) {
    for (const char* what : {"<file>", "<folder>", "<path>"}) {
      if (option.values.find(what) == std::string::npos) continue;
      text += (text.empty() ? "" : "|") + option.name;
      break;
    }
  }
  return text;
}

std::string command_names() {
  std::vector<std::string> names;
  for (const tool::ToolCommand& command : tool::tool_commands()) names.push_back(command.name);
  return join(names);
}

void fill_in(const std::string& mark, const std::string& with, std::string* text) {
  for (size_t at = text->find(mark); at != std::string::npos; at = text->find(mark, at + with.size()))
    text->replace(at, mark.size(), with);
}

// The words of an option list, `cpu=samples,depth=`, are completed one after the other: `done` is what stands
// before the last comma, and goes before each answer.
constexpr char kBash[] = R"(# Completion of hprof for bash.

_hprof_values() {
  local values=''
  case $1 in
@VALUES@  esac
  echo "$values"
  case $1 in @PATHS@) compgen -f -- "$2" ;; esac
}

_hprof_agent_options() {
  local word=$1 done='' names='@NAMES@' value
  case $word in *,*) done=${word%,*},; word=${word##*,} ;; esac
  case $word in
    *=*) for value in $(_hprof_values "${word%%=*}" "${word#*=}"); do
           case $value in "${word#*=}"*) COMPREPLY+=("$done${word%%=*}=$value") ;; esac
         done ;;
    *) for value in $names; do
         case $value in "$word"*) COMPREPLY+=("$done$value") ;; esac
       done ;;
  esac
}

_hprof() {
  local line=${COMP_LINE:0:COMP_POINT} word words='' command=${COMP_WORDS[1]:-} skip i
  # bash parts words at '=' and ':'; here a word ends at a blank.
  word=${line##* }
  COMPREPLY=()
  compopt -o nospace 2>/dev/null
  if [ "$COMP_CWORD" -le 1 ]; then
    COMPREPLY=($(compgen -W '@COMMANDS@ help --version' -- "$word"))
    compopt +o nospace 2>/dev/null
    return
  fi
  case $command in
@CASES@  esac
  case $command in
    run|attach|profile) case $word in -*) ;; *) case $line in *' -- '*) ;; *) _hprof_agent_options "$word" ;; esac ;; esac ;;
    ctl) case $word in -*) ;; *) [ "$COMP_CWORD" -lt 3 ] || words="$words @AGENT@" ;; esac ;;
    help) words='@COMMANDS@' ;;
  esac
  COMPREPLY+=($(compgen -W "$words" -- "$word"))
  case $word in -*) ;; *) [ ${#COMPREPLY[@]} -gt 0 ] || { compopt -o filenames +o nospace 2>/dev/null; COMPREPLY=($(compgen -f -- "$word")); } ;; esac
  # What bash regards as the word begins after the last '=' or ':'.
  case $word in
    *[=:]*) skip=${word%"${word##*[=:]}"}
            for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$skip"}; done ;;
  esac
}
complete -F _hprof hprof
)";

constexpr char kZsh[] = R"(#compdef hprof
# Completion of hprof for zsh.

_hprof_agent_options() {
  local word=$PREFIX before='' values=''
  case $word in *,*) before=${word%,*},; word=${word##*,} ;; esac
  case $word in
    *=*)
      case ${word%%=*} in
@VALUES@      esac
      case ${word%%=*} in @PATHS@) compset -P '*='; _files; return ;; esac
      compadd -S '' -p "$before${word%%=*}=" -- ${=values} ;;
    *) compadd -S '' -p "$before" -- ${=:-@NAMES@} ;;
  esac
}

_hprof() {
  local known='' command=${words[2]}
  if (( CURRENT == 2 )); then
    compadd -- ${=:-@COMMANDS@ help --version}
    return
  fi
  case $command in
@CASES@  esac
  case $command in
    run|attach|profile)
      if [[ $PREFIX == -* ]]; then compadd -S '' -- ${=known}; else _hprof_agent_options; fi ;;
    ctl) compadd -- ${=known} ${=:-@AGENT@} ;;
    help) compadd -- ${=:-@COMMANDS@} ;;
    *) if [[ $PREFIX != -* ]]; then _files; fi; compadd -S '' -- ${=known} ;;
  esac
}

_hprof "$@"
)";

std::string fill(std::string text, const std::vector<Option>& options, const char* variable,
                 const char* value_indent) {
  fill_in("@VALUES@", value_cases(options, value_indent), &text);
  fill_in("@CASES@", cases(variable), &text);
  fill_in("@PATHS@", path_options(options), &text);
  fill_in("@NAMES@", option_names(options), &text);
  fill_in("@COMMANDS@", command_names(), &text);
  fill_in("@AGENT@", join(agent_commands()), &text);
  return text;
}

}  // namespace

std::string bash_completion(const std::vector<Option>& options) {
  return fill(kBash, options, "words", "    ");
}

std::string zsh_completion(const std::vector<Option>& options) {
  return fill(kZsh, options, "known", "        ");
}

}  // namespace hprof::manual
