// dlsym() does not look into libraries that were opened without RTLD_GLOBAL, as the VM opens those of JNI:
// all are searched. A handler must not call __tls_get_addr(), which may allocate: it reads where the block is
// as the C library does.
#include "platform/thread_variable.h"

#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

namespace hprof::platform {

namespace {

// The vector of a thread's blocks, as glibc has it on x86-64 (sysdeps/x86_64/nptl/tls.h, dl-dtv.h).
#if defined(__x86_64__) && defined(__LP64__) && defined(__GLIBC__)
constexpr bool kReadsBlocks = true;
union Block {
  size_t count;  // of item -1: how many there are
  struct {
    const char* value;
    void* to_free;
  } at;
};
const Block* blocks() {
  const Block* vector;
  __asm__("movq %%fs:8, %0" : "=r"(vector));
  return vector;
}
#else
constexpr bool kReadsBlocks = false;
#endif

const char* thread_pointer() {
#if defined(__x86_64__) && defined(__LP64__)
  const char* pointer;
  __asm__("movq %%fs:0, %0" : "=r"(pointer));
  return pointer;
#elif defined(__aarch64__)
  const char* pointer;
  __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
  return pointer;
#else
  return nullptr;
#endif
}

uint32_t gnu_hash(const char* name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; name++) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

struct Search {
  const char* name;
  bool is_found;
  size_t module;
  intptr_t value;
  char file[4096];  // "": the program
};

// The parts of a library's dynamic symbol table.
struct Symbols {
  const ElfW(Sym) * symbols;
  const char* names;
  const uint32_t* hashes;  // DT_GNU_HASH
  const uint32_t* old;     // DT_HASH
};

bool is_it(const Symbols& of, uint32_t index, Search* search) {
  const ElfW(Sym)& symbol = of.symbols[index];
  if ((symbol.st_info & 0xf) != STT_TLS || symbol.st_shndx == SHN_UNDEF ||
      strcmp(of.names + symbol.st_name, search->name) != 0)
    return false;
  search->value = static_cast<intptr_t>(symbol.st_value);
  search->is_found = true;
  return true;
}

void search_in(const Symbols& of, Search* search) {
  if (of.hashes != nullptr) {
    const uint32_t buckets = of.hashes[0], first = of.hashes[1], words = of.hashes[2];
    const auto* bucket =
        reinterpret_cast<const uint32_t*>(reinterpret_cast<const ElfW(Addr)*>(of.hashes + 4) + words);
    const uint32_t* chain = bucket + buckets;
    const uint32_t hash = gnu_hash(search->name);
    uint32_t index = buckets != 0 ? bucket[hash % buckets] : 0;
    for (; index >= first && index != 0; index++) {
      const uint32_t there = chain[index - first];
      if ((there | 1) == (hash | 1) && is_it(of, index, search)) return;
      if ((there & 1) != 0) return;
    }
  } else if (of.old != nullptr) {
    for (uint32_t index = 0; index < of.old[1]; index++) {
      if (is_it(of, index, search)) return;
    }
  }
}

// Dynamic entries are addresses in memory, or on some C libraries in the file.
template <class T>
const T* at(const dl_phdr_info& library, ElfW(Addr) value) {
  return reinterpret_cast<const T*>(value < library.dlpi_addr ? library.dlpi_addr + value : value);
}

int visit(dl_phdr_info* library, size_t, void* argument) {
  auto* search = static_cast<Search*>(argument);
  if (library->dlpi_tls_modid == 0 || strlen(library->dlpi_name) >= sizeof(search->file)) return 0;
  Symbols of = {nullptr, nullptr, nullptr, nullptr};
  for (uint32_t i = 0; i < library->dlpi_phnum; i++) {
    if (library->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(library->dlpi_addr + library->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; entry++) {
      if (entry->d_tag == DT_SYMTAB) of.symbols = at<ElfW(Sym)>(*library, entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRTAB) of.names = at<char>(*library, entry->d_un.d_ptr);
      if (entry->d_tag == DT_GNU_HASH) of.hashes = at<uint32_t>(*library, entry->d_un.d_ptr);
      if (entry->d_tag == DT_HASH) of.old = at<uint32_t>(*library, entry->d_un.d_ptr);
    }
  }
  if (of.symbols == nullptr || of.names == nullptr) return 0;
  search_in(of, search);
  if (!search->is_found) return 0;
  search->module = library->dlpi_tls_modid;
  strcpy(search->file, library->dlpi_name);
  return 1;
}

// True: the address is in the block of memory that holds the thread's stack and what every thread has.
bool is_in_thread(const char* address) {
  pthread_attr_t attributes;
  void* begin = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  const bool is_known = pthread_attr_getstack(&attributes, &begin, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  return is_known && address >= static_cast<char*>(begin) && address < static_cast<char*>(begin) + bytes;
}

}  // namespace

bool find_thread_variable(const char* name, ThreadVariable* variable) {
  Search search = {name, false, 0, 0, ""};
  dl_iterate_phdr(&visit, &search);
  if (!search.is_found || thread_pointer() == nullptr) return false;
  // Never closed: another library would get the place.
  void* library = dlopen(*search.file != '\0' ? search.file : nullptr, RTLD_LAZY | RTLD_NOLOAD);
  const auto* here = library != nullptr ? static_cast<const char*>(dlsym(library, name)) : nullptr;
  if (here == nullptr) return false;
  if (is_in_thread(here)) {
    *variable = {true, here - thread_pointer(), 0};
    return true;
  }
  *variable = {false, search.value, search.module};
  // The calling thread has its block now.
  return kReadsBlocks && thread_variable(*variable) == here;
}

const void* thread_variable(const ThreadVariable& variable) {
  if (variable.is_static) return thread_pointer() + variable.offset;
#if defined(__x86_64__) && defined(__LP64__) && defined(__GLIBC__)
  const Block* vector = blocks();
  if (variable.module == 0 || variable.module > vector[-1].count) return nullptr;
  const char* block = vector[variable.module].at.value;
  // -1: not made yet.
  return block == nullptr || block == reinterpret_cast<const char*>(-1) ? nullptr : block + variable.offset;
#else
  return nullptr;
#endif
}

}  // namespace hprof::platform
