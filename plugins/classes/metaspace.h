// The metaspace of class loaders, by the VM's own command VM.classloader_stats (JDK 9 and later).
#pragma once

#include <jni.h>

#include <hprof/abi.h>

namespace hprof::classes {

// Calls visit(argument, name, bytes) for each loader: the name of its class, "<boot class loader>" for the
// boot loader, and the bytes of metaspace that it holds. Some loaders come several times. False: the VM does
// not say. [control]
bool each_metaspace(JNIEnv* jni, void* argument,
                    void (*visit)(void* argument, hprof_text name, uint64_t bytes));

// The part of it that reads the command's answer: lines "0x.. 0x.. 0x.. <classes> <chunks> <blocks> <type>",
// each followed by "<classes> <chunks> <blocks> + hidden classes" where it has such. The bytes of chunks are
// what a loader holds.
void each_loader_line(const char* text, void* argument,
                      void (*visit)(void* argument, hprof_text name, uint64_t bytes));

}  // namespace hprof::classes
