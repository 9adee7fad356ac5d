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
  explicit Guard(FaultFilter filter = nullptr) { REQUIRE(install_fault_guard(filter) == 0); }
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

TEST_CASE("a filter may mend the fault and let the call go on") {
  static void* page;
  page = mmap(nullptr, page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  const Guard guard([](int, void* info, void*) {
    if (static_cast<siginfo_t*>(info)->si_addr != page) return false;
    return mprotect(page, page_size(), PROT_READ) == 0;
  });
  CHECK(guarded_call(read_int, page));
  CHECK_FALSE(guarded_call(read_int, bad_address()));
  munmap(page, page_size());
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
            if (value != &faults) return false;
            if (!guarded_call(read_int, bad_address())) ++faults;
            return true;
          }) == 0);
  const bool returned = guarded_call([](void*) { request_sample(current_thread_id(), &faults); }, nullptr);
  CHECK(returned);
  CHECK(faults == 1);
  CHECK_FALSE(is_blocked(SIGPROF));
  request_sample(current_thread_id(), &faults);
  CHECK(faults == 2);
  uninstall_sample_handler();
}

TEST_CASE("without a guard the function is called as it is") {
  int good = 1;
  CHECK(guarded_call(read_int, &good));
}

TEST_CASE("a fault that nobody guards ends the process as it would without us") {
  const int faulted = status_of_child([] {
    signal(SIGSEGV, SIG_DFL);
    install_fault_guard(nullptr);
    guarded_call(read_int, bad_address());
    read_int(bad_address());
  });
  CHECK(WIFSIGNALED(faulted));
  CHECK(WTERMSIG(faulted) == SIGSEGV);
  const int sent = status_of_child([] {
    signal(SIGBUS, SIG_DFL);
    install_fault_guard(nullptr);
    guarded_call([](void*) { raise(SIGBUS); }, nullptr);
  });
  CHECK(WIFSIGNALED(sent));
  CHECK(WTERMSIG(sent) == SIGBUS);
}
