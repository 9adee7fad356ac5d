// Microstates out of a folder made up like /proc/self of Solaris.
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <procfs.h>
#include <sstream>
#include <stdlib.h>
#include <string.h>
#include <string>

#include "platform/solaris/microstates.h"

using namespace hprof::platform;

namespace {

constexpr NativeThread kThread = static_cast<NativeThread>(3);

class MadeUpProcess {
 public:
  MadeUpProcess() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hprof-proc-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    std::filesystem::create_directories(path_ + "/lwp/3");
  }
  ~MadeUpProcess() { std::filesystem::remove_all(path_); }
  const char* path() const { return path_.c_str(); }

  void put(const std::string& name, const void* data, size_t size) {
    std::ofstream(path_ + "/" + name, std::ios::binary)
        .write(static_cast<const char*>(data), static_cast<long>(size));
  }

  std::string content_of(const std::string& name) const {
    std::ifstream in(path_ + "/" + name, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

prusage_t made_up_usage() {
  prusage_t usage;
  memset(&usage, 0, sizeof usage);
  timestruc_t* const times[] = {&usage.pr_utime,  &usage.pr_stime,   &usage.pr_ttime, &usage.pr_tftime,
                                &usage.pr_dftime, &usage.pr_kftime,  &usage.pr_ltime, &usage.pr_slptime,
                                &usage.pr_wtime,  &usage.pr_stoptime};
  for (int i = 0; i < 10; ++i) *times[i] = {i + 1, 1000 + i};
  usage.pr_minf = 21;
  usage.pr_majf = 22;
  usage.pr_vctx = 23;
  usage.pr_ictx = 24;
  usage.pr_sysc = 25;
  return usage;
}

}  // namespace

TEST_CASE("each microstate is found in its column") {
  MadeUpProcess process;
  const prusage_t usage = made_up_usage();
  process.put("lwp/3/lwpusage", &usage, sizeof usage);
  ThreadAccounting row;
  REQUIRE(read_microstates(process.path(), kThread, &row) == 0);
  size_t count = 0;
  const AccountingColumn* columns = accounting_columns(&count);
  REQUIRE(count == 15);
  std::map<std::string, uint64_t> values;
  for (size_t i = 0; i < count; ++i) values[columns[i].name] = row.value[i];
  const char* const times[] = {"user",         "system",    "trap",  "text_fault",  "data_fault",
                               "kernel_fault", "lock_wait", "sleep", "cpu_latency", "stopped"};
  for (uint64_t i = 0; i < 10; ++i) {
    CAPTURE(times[i]);
    CHECK(values[times[i]] == (i + 1) * 1000000000 + 1000 + i);
  }
  const char* const counts[] = {"minor_faults", "major_faults", "voluntary_switches", "involuntary_switches",
                                "system_calls"};
  for (uint64_t i = 0; i < 5; ++i) CHECK(values[counts[i]] == 21 + i);
  CHECK(row.value[15] == kNotAccounted);
}

TEST_CASE("CPU time is user, system and trap time") {
  MadeUpProcess process;
  const prusage_t usage = made_up_usage();
  process.put("lwp/3/lwpusage", &usage, sizeof usage);
  CHECK(read_lwp_cpu(process.path(), kThread) == 6000000000 + 3003);
}

TEST_CASE("a missing or short file is an error and not a row of zeroes") {
  MadeUpProcess process;
  ThreadAccounting row;
  CHECK(read_microstates(process.path(), kThread, &row) != 0);
  CHECK(row.value[0] == kNotAccounted);
  CHECK(read_lwp_cpu(process.path(), kThread) == -1);
  const prusage_t usage = made_up_usage();
  process.put("lwp/3/lwpusage", &usage, sizeof usage - 1);
  CHECK(read_microstates(process.path(), kThread, &row) != 0);
  CHECK(read_lwp_cpu(process.path(), kThread) == -1);
  CHECK(read_microstates(std::string(300, 'x').c_str(), kThread, &row) != 0);
}

TEST_CASE("accounting is switched on by one PCSET message") {
  MadeUpProcess process;
  CHECK(set_microstates(process.path()) != 0);
  process.put("ctl", "", 0);
  REQUIRE(set_microstates(process.path()) == 0);
  const std::string sent = process.content_of("ctl");
  const long expected[] = {PCSET, PR_MSACCT};
  REQUIRE(sent.size() == sizeof expected);
  CHECK(memcmp(sent.data(), expected, sizeof expected) == 0);
}

TEST_CASE("resident memory comes from psinfo in kilobytes") {
  MadeUpProcess process;
  CHECK(read_resident_bytes(process.path()) == 0);
  psinfo_t info;
  memset(&info, 0, sizeof info);
  info.pr_rssize = 1234;
  process.put("psinfo", &info, sizeof info);
  CHECK(read_resident_bytes(process.path()) == 1234 * 1024);
}
