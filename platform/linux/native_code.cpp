// Libraries and symbol tables by the dynamic linker's list and the files (ELF) of this process.
#include "platform/native_code.h"

#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/common/text.h"
#include "platform/guarded_read.h"

namespace hprof::platform {

namespace {

// The bytes of an ELF file, mapped or in memory.
struct Image {
  const uint8_t* bytes;
  uint64_t size;
  // nullptr: it is not within the image.
  template <class T>
  const T* at(uint64_t offset, uint64_t count = 1) const {
    const bool is_within = offset <= size && count <= (size - offset) / sizeof(T) && offset % alignof(T) == 0;
    return is_within ? static_cast<const T*>(static_cast<const void*>(bytes + offset)) : nullptr;
  }
};

bool read_table(const Image& image, SymbolTable* table) {
  const auto* head = image.at<ElfW(Ehdr)>(0);
  if (head == nullptr || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
      head->e_shentsize != sizeof(ElfW(Shdr)))
    return false;
  const auto* sections = image.at<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
  constexpr uint32_t kTypes[] = {SHT_SYMTAB, SHT_DYNSYM};
  for (const uint32_t type : kTypes) {
    for (uint32_t i = 0; sections != nullptr && i < head->e_shnum; i++) {
      const ElfW(Shdr)& section = sections[i];
      if (section.sh_type != type || section.sh_link >= head->e_shnum) continue;
      const ElfW(Shdr)& names = sections[section.sh_link];
      const uint64_t count = section.sh_size / sizeof(ElfW(Sym));
      const auto* symbols = image.at<ElfW(Sym)>(section.sh_offset, count);
      const auto* text = image.at<char>(names.sh_offset, names.sh_size);
      if (symbols == nullptr || text == nullptr || names.sh_size == 0 || text[names.sh_size - 1] != '\0' ||
          count > UINT32_MAX)
        continue;
      table->symbols = reinterpret_cast<const uint8_t*>(symbols);
      table->count = static_cast<uint32_t>(count);
      table->names = text;
      table->name_bytes = names.sh_size;
      return true;
    }
  }
  return false;
}

// The file has the program headers and the notes, one of which is the build id, that are in memory.
bool is_loaded_from(const Image& file, const dl_phdr_info& info) {
  const auto* head = file.at<ElfW(Ehdr)>(0);
  if (head == nullptr || head->e_phnum != info.dlpi_phnum) return false;
  const auto* headers = file.at<ElfW(Phdr)>(head->e_phoff, head->e_phnum);
  if (headers == nullptr || memcmp(headers, info.dlpi_phdr, sizeof(ElfW(Phdr)) * info.dlpi_phnum) != 0)
    return false;
  for (uint32_t i = 0; i < info.dlpi_phnum; i++) {
    if (headers[i].p_type != PT_NOTE) continue;
    const auto* notes = file.at<uint8_t>(headers[i].p_offset, headers[i].p_filesz);
    const auto* loaded = reinterpret_cast<const void*>(info.dlpi_addr + headers[i].p_vaddr);
    if (notes == nullptr || memcmp(notes, loaded, headers[i].p_filesz) != 0) return false;
  }
  return true;
}

void open_symbols(const char* path, const dl_phdr_info& info, SymbolTable* table) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return;
  struct stat status;
  void* mapped = MAP_FAILED;
  size_t size = 0;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    size = static_cast<size_t>(status.st_size);
    mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  }
  close(file);
  if (mapped == MAP_FAILED) return;
  const Image image = {static_cast<const uint8_t*>(mapped), size};
  if (!is_loaded_from(image, info) || !read_table(image, table)) {
    munmap(mapped, size);
    return;
  }
  table->mapped = mapped;
  table->mapped_bytes = size;
}

struct Search {
  uint64_t address;
  LoadedLibrary* library;
  SymbolTable* table;
  bool is_first;
};

int visit(dl_phdr_info* info, size_t, void* context) {
  auto* search = static_cast<Search*>(context);
  const bool is_program = search->is_first;
  search->is_first = false;
  uint64_t begin = UINT64_MAX, end = 0;
  bool has_it = false;
  for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uint64_t from = info->dlpi_addr + segment.p_vaddr, to = from + segment.p_memsz;
    begin = from < begin ? from : begin;
    end = to > end ? to : end;
    has_it |= search->address >= from && search->address < to;
  }
  if (!has_it) return 0;
  const char* path = info->dlpi_name != nullptr ? info->dlpi_name : "";
  char* program = is_program && path[0] == '\0' ? realpath("/proc/self/exe", nullptr) : nullptr;
  if (program != nullptr) path = program;
  const char* name = strrchr(path, '/');
  LoadedLibrary& library = *search->library;
  library.begin = begin;
  library.end = end;
  library.base = info->dlpi_addr;
  copy_text(name != nullptr ? name + 1 : path, library.name, sizeof library.name);
  if (search->table != nullptr) *search->table = {};
  // The kernel's own library (vDSO) has no file; all of it is in memory.
  if (search->table != nullptr && name != nullptr)
    open_symbols(path, *info, search->table);
  else if (search->table != nullptr)
    read_table({reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(begin)), end - begin}, search->table);
  free(program);
  return 1;
}

}  // namespace

uint64_t library_changes() {
  uint64_t changes = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t size, void* to) {
        if (size >= offsetof(dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
          *static_cast<uint64_t*>(to) = info->dlpi_adds << 32 ^ info->dlpi_subs;
        return 1;
      },
      &changes);
  return changes;
}

bool find_library(uint64_t address, LoadedLibrary* library, SymbolTable* table) {
  Search search = {address, library, table, true};
  return dl_iterate_phdr(&visit, &search) != 0;
}

void close_symbols(SymbolTable* table) {
  if (table->mapped != nullptr) munmap(table->mapped, table->mapped_bytes);
  *table = {};
}

bool symbol_at(const SymbolTable& table, uint32_t index, Symbol* symbol) {
  using Entry = ElfW(Sym);
  constexpr uint32_t kTypes = 16, kIndirect = 10;  // STT_GNU_IFUNC
  const uint8_t* entry = table.symbols + index * sizeof(Entry);
  const auto info = guarded_read<uint8_t>(entry, offsetof(Entry, st_info));
  const auto bytes = guarded_read<decltype(Entry::st_size)>(entry, offsetof(Entry, st_size));
  const auto section = guarded_read<uint16_t>(entry, offsetof(Entry, st_shndx));
  const auto name = guarded_read<uint32_t>(entry, offsetof(Entry, st_name));
  if ((info % kTypes != STT_FUNC && info % kTypes != kIndirect) || section == SHN_UNDEF || bytes == 0 ||
      name >= table.name_bytes)
    return false;
  const auto value = guarded_read<decltype(Entry::st_value)>(entry, offsetof(Entry, st_value));
  *symbol = {value, bytes, table.names + name, info / kTypes != STB_LOCAL};
  return true;
}

}  // namespace hprof::platform
