// Where the frames of a mounted virtual thread lie that have not returned to its carrier's stack: a chain of
// stack chunks in the heap (jdk.internal.vm.StackChunk), innermost first. The JavaThread leads to the
// carrier's Thread, that to the Continuation that it runs, and that to the first chunk. The current Thread
// does not lead there while a virtual thread has made its carrier that (VirtualThread.scheduleUnpark).
//
// Frames lie in a chunk as they lay on the stack, but that offsets replace addresses within it: the saved
// frame pointer of an interpreted frame's callee, and in the frame the sender's stack pointer and the local
// variables.
//
// The thread itself changes chunks in Continuation.doYield (or where it gives up its carrier for a monitor)
// and at the return barrier only. A collector moves them (heap_references.h): is_still tells that it did not.
// All reads are guarded. [signal]
#pragma once

#include <cstdint>
#include <jni.h>

#include "core/modules/hotspot/heap_references.h"
#include "core/modules/hotspot/vm_frames.h"

namespace hprof {

class StackChunks {
 public:
  // Addresses in a chunk.
  struct Chunk {
    uint64_t place;
    uint64_t sp;      // of the innermost frame
    uint64_t bottom;  // where the outermost one ends
    uint64_t end;     // the same with what that one got on the stack
    uint64_t parent;  // the chunk of its callers; 0: there is none; or HeapReferences::kMoved
  };
  // What has to be the same after a walk.
  struct Moment {
    uint64_t phase;  // HeapReferences::phase
    uint32_t collections;
    uint32_t chunks;  // asked for
    uint64_t sum;     // of their addresses and stack pointers
  };

  // Offsets in objects, and ids of methods.
  struct Fields {
    uint64_t continuation;              // of Thread
    uint64_t tail;                      // of Continuation
    uint64_t parent, size, sp, bottom;  // of StackChunk
    uint64_t stack;                     // behind these
    const void* enter;                  // Continuation.enter, the outermost frame of all
    const void* yields;                 // Continuation.doYield
    const void* special;                // Continuation.enterSpecial, which calls `enter`
  };

  // Asks the JDK's classes. Call it once a virtual thread has run, since it initialises them. nullptr: found;
  // else why not, static text, as the next. [control]
  [[gnu::cold]] static const char* find_fields(const VmStructs& structs, JNIEnv* jni, Fields* fields);
  // to_thread: from a JNIEnv to its JavaThread. [control]
  [[gnu::cold]] const char* open(HotSpot& home, int64_t to_thread, const Fields& fields);
  // Reads the first chunk with frames of what is mounted on the thread. False: there is none, or a collector
  // is moving it.
  bool find(const void* env, Chunk* chunk, Moment* moment) const;
  // Reads the chunk of its callers. False: as find.
  bool find_parent(Chunk* chunk, Moment* moment) const;
  // True: the chunks that were asked for are where they were.
  bool is_still(const void* env, const Moment& moment) const;
  const Fields& fields() const { return fields_; }

 private:
  bool read(uint64_t place, Chunk* chunk, Moment* moment) const;
  uint64_t first_of(const void* env) const;
  bool is_quiet(uint32_t* collections) const;

  HeapReferences references_;
  const void* heap_at_ = nullptr;
  uint32_t pause_at_ = 0, collections_at_ = 0;
  int64_t carrier_from_env_ = 0;
  Fields fields_ = {};
};

}  // namespace hprof
