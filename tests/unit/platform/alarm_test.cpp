// The process's alarm, in processes of their own.
#include <csignal>
#include <cstdio>
#include <sys/time.h>
#include <sys/wait.h>

#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

namespace {

constexpr int64_t kSoon = kNanosPerMilli;
constexpr int64_t kNever = 3600 * kNanosPerSecond;

bool no_line(void*, char*, size_t) { return false; }
bool line(void* context, char* text, size_t size) {
  return std::snprintf(text, size, "%s is late\n", static_cast<const char*>(context)) > 0;
}

// The exit code of a child, which writes what is said into `said`. -1: it did not exit.
template <typename Body>
int code_of_child(Body body, std::string* said = nullptr) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    _exit(body());
  }
  close(ends[1]);
  char text[200] = "";
  const ssize_t count = read(ends[0], text, sizeof text - 1);
  if (said != nullptr && count > 0) said->assign(text, static_cast<size_t>(count));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool is_default() {
  struct sigaction now;
  sigaction(SIGALRM, nullptr, &now);
  return now.sa_handler == SIG_DFL;
}

}  // namespace

TEST_CASE("the alarm ends the process with its line") {
  std::string said;
  static char name[] = "a unit";
  CHECK(code_of_child(
            [] {
              if (!set_alarm(kSoon, &line, name)) return 2;
              for (;;) pause();
            },
            &said) == 1);
  CHECK(said == "a unit is late\n");
}

TEST_CASE("without a line the process goes on, and a signal on its way does not end it") {
  CHECK(code_of_child([] {
          if (!set_alarm(kSoon, &no_line, nullptr)) return 2;
          itimerval left{};
          do {
            getitimer(ITIMER_REAL, &left);
          } while (left.it_value.tv_sec != 0 || left.it_value.tv_usec != 0);
          clear_alarm();
          raise(SIGALRM);
          return 0;
        }) == 0);
}

TEST_CASE("a cleared alarm leaves nothing behind") {
  CHECK(code_of_child([] {
          if (!set_alarm(kNever, &line, nullptr) || is_default()) return 2;
          clear_alarm();
          itimerval left{};
          getitimer(ITIMER_REAL, &left);
          return is_default() && left.it_value.tv_sec == 0 ? 0 : 3;
        }) == 0);
}

TEST_CASE("an alarm of the program's own stays as it is") {
  CHECK(code_of_child([] {
          signal(SIGALRM, SIG_IGN);
          return set_alarm(kSoon, &line, nullptr) ? 2 : 0;
        }) == 0);
  CHECK(code_of_child([] {
          alarm(3600);
          return set_alarm(kSoon, &line, nullptr) ? 2 : alarm(0) > 3000 ? 0 : 3;
        }) == 0);
}
