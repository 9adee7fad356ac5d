// This process: its ids, threads, environment and standard error.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof::platform {

// The OS's id of a thread (Linux: tid, Solaris: LWP id, Windows: thread id). Never zero for a live thread.
enum class NativeThread : uint32_t { kNone = 0 };

uint32_t process_id();  // [signal]
// This machine's own host name. Returns its length; 0: there is none, or it does not fit. [any]
size_t host_name(char* text, size_t size);
NativeThread current_thread_id();  // [signal]; a system call on Linux

// Calls `visit` for each native thread of this process; `name` is "" if the OS has none. Threads that start
// or end meanwhile may be missed. Returns 0 or an error. [any]
using ThreadVisitor = bool (*)(void* context, NativeThread thread, const char* name);
int for_each_thread(ThreadVisitor visit, void* context);

// The value of an environment variable, or nullptr. Valid until the environment changes; copy it. In a
// process that runs with more rights than its user (setuid) it is nullptr always. [any]
const char* environment(const char* name);

// Writes `text` to standard error with one write, so that a line (give it its newline) is not torn by other
// threads. What a terminal would obey becomes '?', since the text may come from outside. Errors are ignored,
// a closed pipe raises no signal. If standard error accepts nothing, like a pipe that nobody reads, the text
// is lost after a second, and later ones at once until one gets through; a notice before that one says how
// many were lost. [any] but [signal]
void write_stderr(const char* text);

// Absolute path of the executable (`/usr/lib/jvm/.../bin/java`). Returns its length, or 0. [any]
size_t executable_path(char* text, size_t size);

// Processors this process may run on, at least 1. [any]
uint32_t processor_count();

// Calls `handler` on the thread that ends the process by exit() or by returning from main, before libraries
// loaded earlier end. `alone`: the other threads are gone, and locks may be held for good (Windows). Call it
// once. [any]
void at_exit(void (*handler)(bool alone));

// Writes the text of a line. False: none; the process goes on. [signal], on any thread
using AlarmText = bool (*)(void* context, char* text, size_t size);
// Once `ns` have passed, writes that line to standard error and ends the process with exit code 1, without
// exit handlers. One at a time. False: the process uses its alarm, or the system has none. [any] but [signal]
bool set_alarm(int64_t ns, AlarmText text, void* context);
// Only after set_alarm() has returned true. [any] but [signal]
void clear_alarm();

// Fills `data` with unpredictable bytes, good for a secret. Returns 0 or an error. [any]
int random_bytes(void* data, size_t size);

}  // namespace hprof::platform
