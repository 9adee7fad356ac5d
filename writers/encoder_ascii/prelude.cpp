// The introduction at the head of a file.
#include "ascii.h"

namespace hprof::ascii {

namespace {

// Parsers skip everything up to the line of dashes, so this text may change, but no line of it may look like
// that one. Kinds of records that the build does not write are left out.
constexpr char kPrelude[] =
    "Written by hprof. Below the dashed line are records of these kinds:\n"
    "\n"
    "THREAD START, THREAD END\n"
    "    A thread started or ended. Other records refer to it by its id.\n"
    "\n"
    "TRACE\n"
    "    A call stack, innermost method first, one method per line. It is written\n"
    "    once; other records refer to it by its number.\n"
    "\n"
    "CPU SAMPLES\n"
    "    Which methods were running, sampled at regular intervals, most frequent\n"
    "    first. \"count\" is the number of samples with exactly this trace.\n"
    "\n"
#ifndef HPROF_NO_CALL_RECORDS
    "CPU TIME\n"
    "    Time spent in each method itself, without the methods that it called.\n"
    "    \"count\" is the number of calls.\n"
    "\n"
#endif
#ifndef HPROF_NO_SITE_RECORDS
    "SITES\n"
    "    Where objects were allocated: class, trace, the bytes and objects\n"
    "    allocated there, and those of them that are still live.\n"
    "\n"
    "HEAP SUMMARY\n"
    "    Total bytes and objects that are live, and that were allocated so far.\n"
    "\n"
#endif
#ifndef HPROF_NO_HEAP_RECORDS
    "HEAP DUMP\n"
    "    Every object of the Java heap, with its references to others:\n"
    "    ROOT    an object that the virtual machine keeps alive, and why\n"
    "    CLS     a class\n"
    "    OBJ     an object with fields\n"
    "    ARR     an array\n"
    "\n"
#endif
#ifndef HPROF_NO_MONITOR_RECORDS
    "MONITOR TIME\n"
    "    How long threads were blocked on locks that others held, by trace and by\n"
    "    class of the lock. \"count\" is the number of times.\n"
    "\n"
    "WAIT, WAITED\n"
    "    A thread began or ended to wait for a monitor to be notified.\n"
    "\n"
    "MONITOR DUMP\n"
    "    All threads with their states, all monitors with owners and waiting threads.\n"
    "\n"
#endif
    "HPROF NOTE\n"
    "    Information about the numbers: data that was lost, or how it was measured.\n"
    "\n"
    "Reports are written on request, and when the program ends.\n";

}  // namespace

void write_prelude(TextOut& out, const hprof_rec_file_begin& begin) {
  out.lit("JAVA PROFILE 1.0.1, created ").date(begin.created_ms).lit("\n\n");
  out.lit(kPrelude).lit("\n--------\n\n");
}

}  // namespace hprof::ascii
