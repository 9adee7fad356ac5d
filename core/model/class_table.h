// The classes that records refer to, and their names.
#pragma once

#include "core/base/atomic.h"
#include "core/model/ids.h"
#include "core/model/intern_table.h"
#include "core/model/string_table.h"

namespace hprof {

// A class is found by its signature and an identity that the caller chooses to distinguish classes of the
// same name, such as the class object's id or the loader's; 0 if names are enough.
//
// Names. A class that the VM makes (hidden classes, lambdas, proxies, reflection accessors) is stored under
// its stable name and signature (class_names.h) unless raw names are wanted. Such classes stay different
// classes: each has its own serial, so that a heap dump and the owner column of allocation sites tell them
// apart. But their code counts as one: methods, hence frames and traces, belong to representative(), the
// first class of that stable name. So rows that differ only in the copy of a lambda, a proxy or a script's
// class become one, in one run and between two. Loaders do not matter here: the frames of the host class
// around them still tell loaders apart.
//
// Protocol: InternTable's. source and object are set later, each by a single aligned store.
// representative() is fixed by a compare-and-swap of the mark beside the signature string. Tags: intern,
// representative [onload][control][app]; the rest [any].
class ClassTable {
 public:
  bool create(MemoryAccount& memory, uint32_t capacity, Backing backing, StringTable& strings) {
    strings_ = &strings;
    memory_ = &memory;
    return table_.create(memory, capacity, backing);
  }
  void destroy() { table_.destroy(); }

  // kNone: no room, or no signature.
  ClassSerial intern(Str signature, uint64_t identity);
  // kNone: there is none yet.
  ClassSerial representative(ClassSerial serial);

  // nullptr: no such class. Valid until destroy; source and object change once, from 0.
  const ClassInfo* info(ClassSerial serial) const {
    const Entry* entry = table_.at(raw(serial));
    return entry ? &entry->info : nullptr;
  }
  // These do nothing for an unknown serial.
  void set_source(ClassSerial serial, StringId source);
  void set_object(ClassSerial serial, hprof_object_id object);

  static uint64_t room(uint32_t capacity) { return InternTable<Entry>::room(capacity); }

 private:
  struct Entry {
    ClassInfo info;
    uint64_t identity;
    uint32_t folds;  // 1: the name is shared with other classes of the VM's making
    uint32_t reserved;
  };

  ClassSerial intern_with(Str signature, uint64_t identity, bool folds, TextWriter& name);

  InternTable<Entry> table_;
  StringTable* strings_ = nullptr;
  MemoryAccount* memory_ = nullptr;
};

}  // namespace hprof
