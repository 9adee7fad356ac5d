// The help page of hprof heap: docs/heap.md says the same at more length.
#include "tools/hprof/command.h"

namespace hprof::tool {

namespace {

constexpr char kHeap[] =
    R"(hprof heap [summary] FILE                  memory by class, package, loader, thread and allocation site
hprof heap leaks FILE                      objects that retain an unusual part of the heap, and why they live
hprof heap path FILE CLASS|ID              shortest references from a GC root to an object, or to those of a class
hprof heap dominators FILE [ID]            which objects retain which, as a tree
hprof heap retained FILE CLASS|ID          bytes that would be freed without these objects
hprof heap objects FILE CLASS              the objects of a class that retain most
hprof heap histogram FILE                  objects and shallow bytes of each class
hprof heap show FILE ID                    an object: values, who refers to it, what retains it
hprof heap find FILE --string=TEXT         strings with TEXT in them
hprof heap diff FILE FILE                  growth by class from the first dump to the second

Reads a binary heap dump of any JVM, gzip-compressed or not: from jcmd GC.heap_dump, this agent or the original.
CLASS is a name such as java.util.HashMap or byte[], or * for all; ID is a number with 0x, as printed.

  --top=N               rows of each table, default 20; 0 = all
  --follow=WHICH        references that keep objects alive: strong, soft (strong and soft, the default) or all
  --unreachable         include objects that no GC root reaches
  --threshold=PERCENT   leaks: smallest share of the heap that makes a suspect, default 10
  --layout=R,H[,A]      bytes of a reference and of an object header, alignment, such as 4,12,8; default: found from the dump
  --dump=N              which dump of a file with several, from 1; default the last
  --memory=SIZE         RAM to use, such as 700m or 4g; the rest goes to temporary files; default no limit
  --temp=FOLDER         for temporary files, default $TMPDIR or /tmp
  --index               store results in FILE.index for the next command; rebuilt when the dump changes
  --threads=N           threads that read the file
  -o FILE               also write an HTML page; for summary and leaks it has both, and the dominator tree
  --json                JSON instead of text

Shallow bytes: the object alone. Retained bytes: everything that would be freed with it.
)";

}  // namespace

const char* heap_help() { return kHeap; }

}  // namespace hprof::tool
