// What `hprof plugin check` says of classes for probes that no compiler made.
#include <doctest/doctest.h>

#include "tools/hprof/plugin/check_parts.h"

using namespace hprof;
using namespace hprof::tool;

namespace {

constexpr char kName[] = "java/lang/HprofTest";

// A public class file without members, whose constant pool also names these classes.
std::string class_file(const std::vector<std::string>& named) {
  std::string pool;
  uint16_t count = 1;
  const auto u2 = [](size_t value) {
    return std::string{static_cast<char>(value >> 8), static_cast<char>(value)};
  };
  std::vector<std::string> names = {kName, "java/lang/Object"};
  names.insert(names.end(), named.begin(), named.end());
  for (const std::string& name : names) {
    pool += '\1' + u2(name.size()) + name + '\7' + u2(count);
    count = static_cast<uint16_t>(count + 2);
  }
  return "\xca\xfe\xba\xbe" + u2(0) + u2(52) + u2(count) + pool + u2(0x21) + u2(2) + u2(4) +
         std::string(8, '\0');
}

std::vector<std::string> faults_of(const hprof_probe_user& asked) {
  std::vector<std::string> faults;
  const Findings findings = {[&](const std::string& text) { faults.push_back(text); },
                             [](const std::string&) {}, [](const std::string&) {}};
  const hprof_unit unit = {};
  CheckedHost host(findings, unit);
  host.mock.probe_users.push_back(asked);
  check_targets(host);
  return faults;
}

hprof_probe_user user_of(const hprof_probe_class& brought, const hprof_target& target) {
  hprof_probe_user user = {};
  user.size = sizeof user;
  user.targets = &target;
  user.target_count = 1;
  user.classes = &brought;
  user.class_count = 1;
  user.live = "live";
  return user;
}

bool has(const std::vector<std::string>& faults, const std::string& part) {
  for (const std::string& fault : faults)
    if (fault.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("names of arrays that are none") {
  const std::string file = class_file({"[[", "[", "[L", "[X", "[I", "[Ljava/lang/String;", ""});
  const hprof_probe_class brought = {kName, reinterpret_cast<const uint8_t*>(file.data()),
                                     static_cast<uint32_t>(file.size()), 0, nullptr};
  const hprof_target target = {HPROF_POINT_BEGIN, 0, "begins", nullptr};
  const std::vector<std::string> faults = faults_of(user_of(brought, target));
  for (const char* name : {"[[", "[", "[L", "[X"})
    CHECK(has(faults, std::string("names the class ") + name + ","));
  CHECK_FALSE(has(faults, "[I"));
  CHECK_FALSE(has(faults, "String"));
}

TEST_CASE("natives without names, and lists that are not there") {
  const std::string file = class_file({});
  hprof_probe_class brought = {kName, reinterpret_cast<const uint8_t*>(file.data()),
                               static_cast<uint32_t>(file.size()), 1, nullptr};
  const hprof_target target = {HPROF_POINT_BEGIN, 0, "begins", nullptr};
  CHECK(has(faults_of(user_of(brought, target)), "counts native methods but has none"));
  const hprof_native natives[] = {{nullptr, "()V", nullptr}};
  brought.natives = natives;
  CHECK(has(faults_of(user_of(brought, target)), "a native method without a name or type"));
  hprof_probe_user user = user_of(brought, target);
  user.class_count = 0;
  CHECK(has(faults_of(user), "in Java, without a class"));
}
