#include "platform/win32/security.h"

#include <aclapi.h>
#include <initializer_list>

namespace hprof::platform {
namespace {

// A security id from the token of this process.
class TokenId {
 public:
  explicit TokenId(TOKEN_INFORMATION_CLASS which) {
    HANDLE token;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) return;
    DWORD length;
    if (GetTokenInformation(token, which, data_, sizeof data_, &length)) {
      // TOKEN_USER and TOKEN_OWNER both begin with the pointer to the id.
      id_ = *reinterpret_cast<PSID*>(data_);
    }
    CloseHandle(token);
  }
  PSID get() const { return id_; }
  bool is(PSID other) const { return id_ && EqualSid(id_, other); }

 private:
  PSID id_ = nullptr;
  alignas(8) unsigned char data_[256];
};

bool is_trusted(PSID id, const TokenId& user, const TokenId& owner) {
  if (user.is(id) || owner.is(id)) return true;
  for (WELL_KNOWN_SID_TYPE known :
       {WinLocalSystemSid, WinBuiltinAdministratorsSid, WinCreatorOwnerSid, WinCreatorOwnerRightsSid}) {
    if (IsWellKnownSid(id, known)) return true;
  }
  return false;
}

}  // namespace

PrivateAccess::PrivateAccess() {
  const TokenId user(TokenUser);
  ACL* acl = reinterpret_cast<ACL*>(list_);
  valid_ = user.get() && InitializeAcl(acl, sizeof list_, ACL_REVISION) &&
           AddAccessAllowedAce(acl, ACL_REVISION, FILE_ALL_ACCESS, user.get()) &&
           InitializeSecurityDescriptor(&descriptor_, SECURITY_DESCRIPTOR_REVISION) &&
           SetSecurityDescriptorDacl(&descriptor_, TRUE, acl, FALSE) &&
           // Nothing is inherited from the directory.
           SetSecurityDescriptorControl(&descriptor_, SE_DACL_PROTECTED, SE_DACL_PROTECTED);
  attributes_ = {sizeof attributes_, &descriptor_, FALSE};
}

bool is_owned_by_us(HANDLE file) {
  PSID owner = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  if (GetSecurityInfo(file, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, &owner, nullptr, nullptr, nullptr,
                      &descriptor) != ERROR_SUCCESS) {
    return false;
  }
  const bool ours = owner && (TokenId(TokenUser).is(owner) || TokenId(TokenOwner).is(owner));
  LocalFree(descriptor);
  return ours;
}

bool is_safe_from_others(HANDLE directory) {
  PSID owner = nullptr;
  PACL list = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  if (GetSecurityInfo(directory, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                      &owner, nullptr, &list, nullptr, &descriptor) != ERROR_SUCCESS) {
    return false;
  }
  const TokenId user(TokenUser), token_owner(TokenOwner);
  // A missing list grants everything to everybody.
  bool safe = list && owner && is_trusted(owner, user, token_owner);
  constexpr DWORD kDangerous =
      FILE_DELETE_CHILD | DELETE | WRITE_DAC | WRITE_OWNER | GENERIC_WRITE | GENERIC_ALL;
  for (DWORD i = 0; safe && i < list->AceCount; ++i) {
    void* entry;
    if (!GetAce(list, i, &entry)) break;
    const ACCESS_ALLOWED_ACE* ace = static_cast<const ACCESS_ALLOWED_ACE*>(entry);
    if (ace->Header.AceType == ACCESS_DENIED_ACE_TYPE || (ace->Header.AceFlags & INHERIT_ONLY_ACE)) continue;
    // Other kinds of entries may grant anything, under conditions that are not read here.
    safe = ace->Header.AceType == ACCESS_ALLOWED_ACE_TYPE &&
           (!(ace->Mask & kDangerous) || is_trusted(const_cast<DWORD*>(&ace->SidStart), user, token_owner));
  }
  LocalFree(descriptor);
  return safe;
}

}  // namespace hprof::platform
