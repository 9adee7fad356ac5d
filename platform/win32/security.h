// The identity of this user, and the rights of others by access control lists.
#pragma once

#include "platform/win32/wait.h"

namespace hprof::platform {

// A security descriptor that lets only the user of this process in: Windows' mode 0600.
class PrivateAccess {
 public:
  PrivateAccess();
  PrivateAccess(const PrivateAccess&) = delete;
  PrivateAccess& operator=(const PrivateAccess&) = delete;
  // For a CreateFile call while this object lives; nullptr: it could not be built.
  SECURITY_ATTRIBUTES* attributes() { return valid_ ? &attributes_ : nullptr; }
  ACL* list() { return valid_ ? reinterpret_cast<ACL*>(list_) : nullptr; }

 private:
  bool valid_ = false;
  SECURITY_ATTRIBUTES attributes_;
  SECURITY_DESCRIPTOR descriptor_;
  alignas(8) unsigned char list_[256];
};

// True: the open file (with READ_CONTROL) belongs to the user, or to the group that owns the user's new
// files.
bool is_owned_by_us(HANDLE file);

// True: only this user, the system and administrators may delete or replace files in the open directory.
bool is_safe_from_others(HANDLE directory);

}  // namespace hprof::platform
