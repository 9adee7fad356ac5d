#include "tools/hprof/check/check_source.h"

#include "tools/format/ascii_lines.h"
#include "tools/format/file_kind.h"
#include "tools/hprof/check/ascii_checker.h"
#include "tools/hprof/check/binary_checker.h"

namespace hprof::tool {

bool check_source(ByteSource& source, ProblemLog& log, size_t buffer_size) {
  const bool text = is_text(source);
  if (text) log.set_unit(ProblemLog::Unit::kLine);
  Input in(source, buffer_size);
  const std::string other = kind_of(in).name;
  if (other.empty()) return text ? AsciiChecker(in, log).run() : BinaryChecker(in, log).run();
  log.report(Rule::kHeader, text ? 1 : 0, "neither a report nor a dump of hprof but %s", other.c_str());
  return in.error().empty();
}

}  // namespace hprof::tool
