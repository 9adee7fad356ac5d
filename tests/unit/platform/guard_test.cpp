// Guarded calls over bad pointers.
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

namespace {

void read_int(void* address) { static_cast<void>(*static_cast<volatile int*>(address)); }
// The start of a page: s390 tells no more of a fault.
void* bad_address() { return reinterpret_cast<void*>(uintptr_t{4096}); }

sigjmp_buf theirs_jump;
std::atomic<int> theirs_calls{0};
void* theirs_address;
bool theirs_had_context;

void theirs(int, siginfo_t* info, void* context) {
  ++theirs_calls;
  theirs_address = info->si_addr;
  theirs_had_context = context != nullptr;
  siglongjmp(theirs_jump, 1);
}

// Stands for the VM's handlers, with a mask of its own.
class TheirHandlers {
 public:
  TheirHandlers() {
    theirs_calls = 0;
    struct sigaction action {};
    action.sa_sigaction = theirs;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGSEGV, &action, &segv_);
    sigaction(SIGBUS, &action, &bus_);
  }
  ~TheirHandlers() {
    sigaction(SIGSEGV, &segv_, nullptr);
    sigaction(SIGBUS, &bus_, nullptr);
  }

 private:
  struct sigaction segv_, bus_;
};

class Guard {
 public:
  Guard() { REQUIRE(install_fault_guard() == 0); }
  ~Guard() { uninstall_fault_guard(); }
};

bool is_blocked(int number) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, number) == 1;
}

template <typename Body>
int status_of_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("a call that returns is true and one over a bad pointer false, again and again") {
  const Guard guard;
  int good = 3;
  for (int i = 0; i < 100; ++i) {
    REQUIRE(guarded_call(read_int, &good));
    errno = 77;
    const bool returned = guarded_call(read_int, bad_address());
    const int kept = errno;
    REQUIRE_FALSE(returned);
    REQUIRE(kept == 77);
    REQUIRE_FALSE(is_blocked(SIGSEGV));
  }
}

TEST_CASE("SIGBUS is guarded too") {
  TemporaryFolder folder;
  put_file(folder.in("empty"), "");
  const int descriptor = open(folder.in("empty").c_str(), O_RDONLY);
  void* past_end = mmap(nullptr, page_size(), PROT_READ, MAP_PRIVATE, descriptor, 0);
  REQUIRE(past_end != MAP_FAILED);
  const Guard guard;
  CHECK_FALSE(guarded_call(read_int, past_end));
  CHECK_FALSE(is_blocked(SIGBUS));
  munmap(past_end, page_size());
  close(descriptor);
}

TEST_CASE("a fault in a nested call ends the inner one only") {
  const Guard guard;
  static bool inner;
  inner = true;
  CHECK(guarded_call([](void*) { inner = guarded_call(read_int, bad_address()); }, nullptr));
  CHECK_FALSE(inner);
  CHECK_FALSE(guarded_call(
      [](void*) {
        guarded_call(read_int, bad_address());
        read_int(bad_address());
      },
      nullptr));
  int good = 1;
  CHECK(guarded_call(read_int, &good));
}

TEST_CASE("a fault outside a guarded call reaches the previous handler as it came") {
  const TheirHandlers handlers;
  const Guard guard;
  CHECK_FALSE(guarded_call(read_int, bad_address()));
  CHECK(theirs_calls == 0);
  if (sigsetjmp(theirs_jump, 1) == 0) {
    read_int(bad_address());
    FAIL("the fault was swallowed");
  }
  CHECK(theirs_calls == 1);
  CHECK(theirs_address == bad_address());
  CHECK(theirs_had_context);
  CHECK_FALSE(guarded_call(read_int, bad_address()));
  CHECK(theirs_calls == 1);
}

TEST_CASE("the handler keeps flags and mask of the one before it, which comes back afterwards") {
  const TheirHandlers handlers;
  struct sigaction now {};
  {
    const Guard guard;
    sigaction(SIGSEGV, nullptr, &now);
    CHECK((now.sa_sigaction != theirs));
    CHECK((now.sa_flags & (SA_SIGINFO | SA_RESTART)) == (SA_SIGINFO | SA_RESTART));
    CHECK((now.sa_flags & SA_NODEFER) == 0);
    CHECK(sigismember(&now.sa_mask, SIGUSR1) == 1);
  }
  sigaction(SIGSEGV, nullptr, &now);
  CHECK((now.sa_sigaction == theirs));
  sigaction(SIGBUS, nullptr, &now);
  CHECK((now.sa_sigaction == theirs));
}

TEST_CASE("the signal mask after a fault is the one at the fault") {
  const TheirHandlers handlers;
  const Guard guard;
  CHECK_FALSE(guarded_call(read_int, bad_address()));
  CHECK_FALSE(is_blocked(SIGUSR1));
  sigset_t usr2, before;
  sigemptyset(&usr2);
  sigaddset(&usr2, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &usr2, &before);
  CHECK_FALSE(guarded_call(read_int, bad_address()));
  CHECK(is_blocked(SIGUSR2));
  CHECK_FALSE(is_blocked(SIGSEGV));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("the guard stays until its last user has gone") {
  const TheirHandlers handlers;
  const auto theirs_is_in_place = [] {
    struct sigaction now {};
    sigaction(SIGSEGV, nullptr, &now);
    return now.sa_sigaction == theirs;
  };
  {
    const Guard first;
    { const Guard second; }
    CHECK_FALSE(theirs_is_in_place());
    CHECK_FALSE(guarded_call(read_int, bad_address()));
  }
  CHECK(theirs_is_in_place());
}

TEST_CASE("a guarded read is the value, of any size and alignment") {
  const unsigned char bytes[] = {0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9};
  for (uint64_t at : {0u, 1u}) {
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    memcpy(&two, bytes + at, sizeof(two));
    memcpy(&four, bytes + at, sizeof(four));
    memcpy(&eight, bytes + at, sizeof(eight));
    CHECK(guarded_read<uint8_t>(bytes, at) == bytes[at]);
    CHECK(guarded_read<int8_t>(bytes, at) == static_cast<int8_t>(bytes[at]));
    CHECK(guarded_read<uint16_t>(bytes, at) == two);
    CHECK(guarded_read<int32_t>(bytes, at) == static_cast<int32_t>(four));
    CHECK(guarded_read<uint64_t>(bytes, at) == eight);
  }
  const void* pointer = bytes;
  CHECK(guarded_read<const void*>(&pointer) == bytes);
}

// Each call a place of its own, in several functions and inlined.
TEST_CASE("a guarded read of a bad address is 0 and counted, again and again") {
  if (!kReadsAreGuarded) return;  // then a plain read
  const TheirHandlers handlers;
  const Guard guard;
  const uint32_t before = guarded_read_faults();
  for (int i = 0; i < 100; ++i) {
    errno = 77;
    const uint64_t sum = guarded_read<uint8_t>(bad_address()) + guarded_read<uint16_t>(bad_address(), 1) +
                         guarded_read<uint32_t>(bad_address(), 2) + guarded_read<uint64_t>(bad_address(), 3);
    const int kept = errno;
    REQUIRE(sum == 0);
    REQUIRE(kept == 77);
    REQUIRE(guarded_read<void*>(bad_address()) == nullptr);
  }
  CHECK(guarded_read_faults() - before == 500);
  CHECK_FALSE(is_blocked(SIGSEGV));
  CHECK(theirs_calls == 0);
  // Where no address can be, the processor names none.
  CHECK(guarded_read<uint64_t>(reinterpret_cast<void*>(uintptr_t{1} << 63)) == 0);
}

TEST_CASE("a guarded read within a guarded call does not end it") {
  if (!kReadsAreGuarded) return;
  const Guard guard;
  static bool went_on;
  went_on = false;
  CHECK(guarded_call([](void*) { went_on = guarded_read<int>(bad_address()) == 0; }, nullptr));
  CHECK(went_on);
}

TEST_CASE("threads fault in guarded reads without touching each other") {
  if (!kReadsAreGuarded) return;
  const Guard guard;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&wrong] {
      int good = 1;
      for (int i = 0; i < 500; ++i) {
        if (guarded_read<int>(&good) != 1) ++wrong;
        if (guarded_read<int>(bad_address()) != 0) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("threads fault in their guarded calls without touching each other") {
  const Guard guard;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&wrong] {
      int good = 1;
      for (int i = 0; i < 500; ++i) {
        if (!guarded_call(read_int, &good)) ++wrong;
        if (guarded_call(read_int, bad_address())) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a guarded call works inside a sample handler that interrupts a guarded call") {
  static std::atomic<int> faults;
  faults = 0;
  const Guard guard;
  REQUIRE(install_sample_handler([](void* value, void*, uint32_t) {
            if (value == &faults && !guarded_call(read_int, bad_address())) ++faults;
          }) == 0);
  static CpuTimer timer;
  REQUIRE(cpu_timer_create(&timer, current_thread_id(), &faults) == 0);
  const bool returned = guarded_call([](void*) { send_tick(timer); }, nullptr);
  CHECK(returned);
  CHECK(faults == 1);
  CHECK_FALSE(is_blocked(SIGPROF));
  send_tick(timer);
  CHECK(faults == 2);
  cpu_timer_delete(&timer);
  uninstall_sample_handler();
}

TEST_CASE("without a guard the function is called as it is") {
  int good = 1;
  CHECK(guarded_call(read_int, &good));
}

TEST_CASE("a fault that nobody guards ends the process as it would without us") {
  const int faulted = status_of_child([] {
    signal(SIGSEGV, SIG_DFL);
    install_fault_guard();
    guarded_call(read_int, bad_address());
    read_int(bad_address());
  });
  CHECK(WIFSIGNALED(faulted));
  CHECK(WTERMSIG(faulted) == SIGSEGV);
  const int sent = status_of_child([] {
    signal(SIGBUS, SIG_DFL);
    install_fault_guard();
    guarded_call([](void*) { raise(SIGBUS); }, nullptr);
  });
  CHECK(WIFSIGNALED(sent));
  CHECK(WTERMSIG(sent) == SIGBUS);
}
