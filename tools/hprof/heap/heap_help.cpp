// The help page of hprof heap: docs/heap.md says the same at more length.
#include "tools/hprof/command.h"

namespace hprof::tool {

namespace {

constexpr char kHeap[] =
    R"(hprof heap [summary] FILE                  what takes memory: classes, packages, loaders, threads, sites
hprof heap leaks FILE                      what keeps an unusual part of the heap alive, and by which references
hprof heap path FILE CLASS|ID              shortest references from a GC root to an object, or to those of a class
hprof heap dominators FILE [ID]            which objects retain which, as a tree
hprof heap retained FILE CLASS|ID          what would be free without these objects
hprof heap objects FILE CLASS              the objects of a class that retain most
hprof heap histogram FILE                  objects and shallow bytes of each class
hprof heap show FILE ID                    an object: values, who refers to it, what retains it
hprof heap find FILE --string=TEXT         strings with TEXT in them
hprof heap diff FILE FILE                  what classes have and retain more in the second dump

Reads a binary heap dump of any JVM, gzip-compressed or not: of jcmd GC.heap_dump, of this agent, of the original.
CLASS is a name as in java.util.HashMap or byte[], or * for all, ID a number with 0x as the output shows it.

  --top=N               rows of each table, default 20; 0 = all
  --follow=WHICH        references that keep objects alive: strong, soft (strong and soft, the default) or all
  --unreachable         take in objects that no GC root reaches
  --threshold=PERCENT   leaks: what a suspect retains at least, default 10
  --layout=R,H[,A]      bytes of a reference and of an object header, alignment, such as 4,12,8; default: by the dump
  --dump=N              which dump of a file with several, from 1; default the last
  --memory=SIZE         RAM to use, such as 700m or 4g; the rest goes to temporary files; default no limit
  --temp=FOLDER         for temporary files, default $TMPDIR or /tmp
  --index               keep what was found in FILE.index, and use it next time; made anew when the dump has changed
  --threads=N           that read the file
  -o FILE               write a page (HTML), too; of summary and leaks it has both, and the dominator tree to unfold
  --json                JSON instead of text

Shallow bytes are those of an object alone; retained bytes are what would be free if it were gone.
)";

}  // namespace

const char* heap_help() { return kHeap; }

}  // namespace hprof::tool
