// The text at the head of a file, for the person who opens it.
#include "ascii.h"

namespace hprof::ascii {

namespace {

// Parsers skip everything up to the line of dashes, so no line here may look like one, and this text is free
// to change.
constexpr char kPrelude[] =
    "Written by hprof as text. Below the dashed line stand records of these kinds:\n"
    "\n"
    "THREAD START, THREAD END\n"
    "    A thread of the application came to life, or ended. The other records\n"
    "    name it by its id.\n"
    "\n"
    "TRACE\n"
    "    A call stack, innermost method first, one method on a line. It is written\n"
    "    once, and the records that follow point at it by its number.\n"
    "\n"
    "CPU SAMPLES\n"
    "    Where threads were found running when they were looked at, at regular\n"
    "    intervals. Ordered by how often; \"count\" is the number of times that\n"
    "    exactly this trace was seen.\n"
    "\n"
    "CPU TIME\n"
    "    Time spent in methods themselves, without what they called, measured at\n"
    "    their entries and exits. \"count\" is the number of calls.\n"
    "\n"
    "SITES\n"
    "    Where objects come from: a class, the trace that allocated it, how much\n"
    "    was allocated there and how much of that is still live.\n"
    "\n"
    "HEAP SUMMARY\n"
    "    Totals of what is live and of what was allocated so far.\n"
    "\n"
    "HEAP DUMP\n"
    "    Every object of the Java heap with its references to others:\n"
    "    ROOT    what the virtual machine itself holds on to, and how\n"
    "    CLS     a class\n"
    "    OBJ     an object with fields\n"
    "    ARR     an array\n"
    "\n"
    "MONITOR TIME\n"
    "    How long threads stood in front of locks that others held, by trace and by\n"
    "    class of the lock. \"count\" is the number of times that happened there.\n"
    "\n"
    "WAIT, WAITED, EXIT, SLEEP\n"
    "    What single threads did with monitors, as it happened.\n"
    "\n"
    "MONITOR DUMP\n"
    "    All threads with their states, all monitors with owners and waiting threads.\n"
    "\n"
    "HPROF NOTE\n"
    "    Something to know about the numbers: what was lost, or how they were found.\n"
    "\n"
    "Tables are written when the program ends, and on request while it runs.\n";

}  // namespace

void write_prelude(TextOut& out, const hprof_rec_file_begin& begin) {
  out.lit("JAVA PROFILE 1.0.1, created ").date(begin.created_ms).lit("\n\n");
  out.lit(kPrelude).lit("\n--------\n\n");
}

}  // namespace hprof::ascii
