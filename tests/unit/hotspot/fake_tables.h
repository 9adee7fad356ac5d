// The tables that HotSpot's library exports, of a VM that the test makes up.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "core/vm_tables/hotspot.h"

namespace hprof {

class FakeTables {
 public:
  void field(const char* type, const char* name, uint64_t offset) {
    fields_.push_back({type, name, nullptr, 0, offset, nullptr});
  }
  void static_field(const char* type, const char* name, void* address) {
    fields_.push_back({type, name, nullptr, 1, 0, address});
  }
  void type(const char* name, uint64_t size) { types_.push_back({name, nullptr, 0, 0, 0, size}); }
  template <class T>
  void flag(const char* name, T value, uint32_t origin = 0) {
    values_.push_back(0);
    memcpy(&values_.back(), &value, sizeof value);
    flags_.push_back({name, &values_.back(), origin});
  }
  uint8_t* value_of(const char* name) {
    for (Flag& flag : flags_) {
      if (strcmp(flag.name, name) == 0) return static_cast<uint8_t*>(flag.value);
    }
    return nullptr;
  }

  // After all rows. `name` of the flags' type: it has changed.
  void finish(const char* flag_type = "JVMFlag") {
    type(flag_type, sizeof(Flag));
    field(flag_type, "_name", offsetof(Flag, name));
    field(flag_type, "_addr", offsetof(Flag, value));
    field(flag_type, "_flags", offsetof(Flag, origin));
    static_field(flag_type, "flags", &flags_at_);
    static_field(flag_type, "numFlags", &flag_count_);
    fields_.push_back({});
    types_.push_back({});
    flags_at_ = flags_.data();
    flag_count_ = flags_.size();
    fields_at_ = fields_.data();
    types_at_ = types_.data();
  }
  static void* symbol(void* self, const char* name) {
    auto* tables = static_cast<FakeTables*>(self);
    if (strcmp(name, "gHotSpotVMStructs") == 0) return &tables->fields_at_;
    if (strcmp(name, "gHotSpotVMTypes") == 0) return &tables->types_at_;
    for (Number& number : tables->numbers_) {
      if (strcmp(name, number.name) == 0) return &number.value;
    }
    return nullptr;
  }

  // What hotspot.open() and later calls say.
  std::vector<std::string> said;
  Messages messages() {
    return {[](void* self, bool, const char* text) { static_cast<FakeTables*>(self)->said.push_back(text); },
            this};
  }
  bool has_said(const std::string& text) const {
    for (const std::string& line : said) {
      if (line == text) return true;
    }
    return false;
  }
  HotSpotUse use() { return {this, &symbol, nullptr, nullptr, messages(), {}, 25}; }
  void open(HotSpot* hotspot, uint32_t off = 0) { hotspot->open({~off, off}, use()); }

 private:
  struct Field {
    const char* type;
    const char* name;
    const char* type_text;
    int32_t is_static;
    uint64_t offset;
    void* address;
  };
  struct Type {
    const char* name;
    const char* super;
    int32_t is_oop, is_integer, is_unsigned;
    uint64_t size;
  };
  struct Flag {
    const char* name;
    void* value;
    uint32_t origin;
  };
  struct Number {
    const char* name;
    uint64_t value;
  };
  Number numbers_[9] = {{"gHotSpotVMStructEntryArrayStride", sizeof(Field)},
                        {"gHotSpotVMStructEntryTypeNameOffset", offsetof(Field, type)},
                        {"gHotSpotVMStructEntryFieldNameOffset", offsetof(Field, name)},
                        {"gHotSpotVMStructEntryIsStaticOffset", offsetof(Field, is_static)},
                        {"gHotSpotVMStructEntryOffsetOffset", offsetof(Field, offset)},
                        {"gHotSpotVMStructEntryAddressOffset", offsetof(Field, address)},
                        {"gHotSpotVMTypeEntryArrayStride", sizeof(Type)},
                        {"gHotSpotVMTypeEntryTypeNameOffset", offsetof(Type, name)},
                        {"gHotSpotVMTypeEntrySizeOffset", offsetof(Type, size)}};
  std::vector<Field> fields_;
  std::vector<Type> types_;
  std::vector<Flag> flags_;
  std::deque<uint64_t> values_;
  Field* fields_at_ = nullptr;
  Type* types_at_ = nullptr;
  Flag* flags_at_ = nullptr;
  uintptr_t flag_count_ = 0;
};

}  // namespace hprof
