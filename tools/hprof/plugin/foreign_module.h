// The description of a module that this machine cannot load, read out of its file.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include <hprof/plugin.h>

#include "tools/format/elf_file.h"

namespace hprof::tool {

class ForeignModule {
 public:
  // Returns what is wrong with the file, or "".
  std::string read(ElfFile& file);
  // Its units have ids, texts, needs and options' names and help, but no functions.
  const hprof_module& module() const { return module_; }

 private:
  const char* text(ElfFile& file, uint64_t pointer);
  void read_unit(ElfFile& file, uint64_t at);

  hprof_module module_ = {};
  std::deque<std::string> texts_;
  std::deque<hprof_unit> units_;
  std::deque<std::vector<hprof_option>> options_;
  std::vector<const hprof_unit*> list_;
};

// HPROF_LAYOUT_WORD of machines with such pointers; i386 aligns numbers of 64 bits to 4 bytes.
uint64_t layout_word(uint64_t pointer_size, uint64_t alignment_of_64_bits);

}  // namespace hprof::tool
