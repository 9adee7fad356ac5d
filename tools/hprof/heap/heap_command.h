// Shared by `hprof heap` and `hprof diff` of two heap dumps.
#pragma once

#include "tools/heap/questions/heap_report.h"
#include "tools/hprof/command.h"

namespace hprof::tool {

constexpr OptionRow kPageOption = {"-o", "FILE", "also write an HTML page"};
constexpr OptionRow kHeapOptions[] = {
    {"--follow", "WHICH",
     "references that keep objects alive: strong, soft (strong and soft, the default) or all"},
    {"--unreachable", nullptr, "include objects that no GC root reaches"},
    {"--layout", "R,H[,A]",
     "bytes of a reference and of an object header, alignment, such as 4,12,8; default: found from the dump"},
    {"--dump", "N", "which dump of a file with several, from 1; default the last", ValueKind::kNumber, 1,
     UINT32_MAX},
    {"--memory", "SIZE", "RAM to use, such as 700m or 4g; the rest goes to temporary files; default no limit",
     ValueKind::kSize},
    {"--temp", "FOLDER", "for temporary files, default $TMPDIR or /tmp"},
    {"--index", nullptr,
     "store results in FILE.index for the next command, also of a dump of less than 64 MiB;\n"
     "rebuilt when the dump changes"},
    {"--no-index", nullptr, "neither store nor use FILE.index"},
    {"--threads", "N", "threads that read the file", ValueKind::kNumber, 1, 64},
    {"--csv", nullptr, "CSV instead of text: the first table, or that of --table"},
    {"--table", "NAME", "the table of --csv, by its name in the JSON"},
};

// Runs a question on the dumps in `given`, and prints the answer. page: the question for the page of -o.
// Returns an ExitStatus.
using HeapQuestion = Document (*)(HeapRun& run);
int ask_heap(const Given& given, HeapQuestion question, HeapQuestion page);

}  // namespace hprof::tool
