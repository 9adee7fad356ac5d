// Completion for bash and zsh: commands of bin/hprof and their options, the agent's options and values,
// commands of a running agent.
#include <algorithm>

#include "core/protocol/command_table.h"
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

// The verbs and options of a command.
std::vector<std::string> words_of(const tool::Command& command) {
  std::vector<std::string> words;
  for (const tool::Verb& verb : command.verbs)
    if (*verb.name != '\0') add_once(verb.name, &words);
  const auto add = [&](const tool::OptionRow& row) {
    const std::string name = row.name;
    add_once(row.value != nullptr && name.compare(0, 2, "--") == 0 ? name + "=" : name, &words);
  };
  for (const tool::OptionRow* row : tool::own_options(command)) add(*row);
  for (const tool::OptionRow& row : command.common) add(row);
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

// Lines for a shell's case: one for each command of bin/hprof.
std::string cases(const char* variable) {
  std::string text;
  for (const tool::Command* command : tool::kCommandRows)
    text += std::string("    ") + command->name + ") " + variable + "='" + join(words_of(*command)) +
            " --help' ;;\n";
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

// The options whose value is a path.
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
  for (const tool::Command* command : tool::kCommandRows) names.push_back(command->name);
  return join(names);
}

// Completes the words of an option list, `cpu=samples,depth=`, one by one: `done` is the text up to the last
// comma, which goes before each answer.
constexpr char kBash[] = R"(# Completion of hprof for bash.

# Process ids of JVMs, by the files in which HotSpot publishes its counters.
_hprof_pids() {
  local file
  for file in /tmp/hsperfdata_*/[0-9]*; do [ ! -e "$file" ] || echo "${file##*/}"; done
}

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
  case $command in profile|attach|ctl|doctor)
    case $line in *' '[0-9]*' '*) ;; *) words+=" $(_hprof_pids) " ;; esac ;;
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

# Process ids of JVMs, by the files in which HotSpot publishes its counters.
_hprof_pids() {
  local file
  for file in /tmp/hsperfdata_*/[0-9]*(N); do [ ! -e "$file" ] || echo "${file##*/}"; done
}

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
  case $command in profile|attach|ctl|doctor)
    [[ ${(M)words[3,CURRENT-1]:#[0-9]*} != '' ]] || compadd -- $(_hprof_pids) ;;
  esac
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
  text = tool::replaced(text, "@VALUES@", value_cases(options, value_indent));
  text = tool::replaced(text, "@CASES@", cases(variable));
  text = tool::replaced(text, "@PATHS@", path_options(options));
  text = tool::replaced(text, "@NAMES@", option_names(options));
  text = tool::replaced(text, "@COMMANDS@", command_names());
  text = tool::replaced(text, "@AGENT@", join(agent_commands()));
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
