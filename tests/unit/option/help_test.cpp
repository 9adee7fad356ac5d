#include "core/modules/help_texts/help.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>

#include "core/base/version.h"
#include "core/modules/help_texts/module_list.h"
#include "core/option/configure.h"
#include "tests/unit/support/fake_modules.h"

using namespace hprof;

namespace {

constexpr hprof_option kWait[] = {
    {"wait", HPROF_OPTION_MILLIS, 0, nullptr, nullptr, 0, 60000, nullptr, "give up"}};

// Two sinks, of which one runs, with the same option.
template <char kLetter>
const hprof_module* open_sink(const hprof_offer*, const char**) {
  static const char id[] = {'s', 'i', 'n', 'k', '_', kLetter, 0};
  static fake::OneUnit module(
      fake::with_options<fake::SamplesConfig>(fake::unit(HPROF_UNIT_SINK, id, nullptr, nullptr), kWait));
  return &module.record;
}

std::string rendered(void (*print)(const ModuleSet&, const TextOut&)) {
  fake::Folders folders;
  fake::add_shipped(&folders);
  folders.add("/jdk/lib/hprof/plugins/gc_pauses.so", fake::open_gc_pauses);
  folders.add("/opt/v/acme.so", fake::open_acme);
  folders.add("/opt/v/gc_pauses.so", fake::open_gc_pauses);
  folders.add("/opt/v/sink_x.so", open_sink<'x'>);
  folders.add("/opt/v/sink_y.so", open_sink<'y'>);
  fake::Said said;
  auto made = std::make_unique<Configuration>();
  Error error;
  REQUIRE(configure("help,plugins=/opt/v", "", fake::search_with_help(&folders), said.messages(), made.get(),
                    &error) == Configured::kHelp);
  std::string text;
  const TextOut out = {
      [](void* to, Str part) { static_cast<std::string*>(to)->append(part.data, part.size); }, &text};
  print(made->modules, out);
  return text;
}

bool has(const std::string& text, const char* part) {
  CAPTURE(part);
  return text.find(part) != std::string::npos;
}
}  // namespace

TEST_CASE("help has the original's layout") {
  const std::string help = rendered(print_help);
  INFO(help);
  CHECK(has(help, "\nhprof usage: java -agentlib:hprof=[help]|[<option>=<value>, ...]\n"));
  CHECK(has(help,
            "\nOption Name and Value         Description                           Default\n"
            "---------------------         -----------                           -------\n"
            "heap=dump|sites|all|acme|off  heap profiling; all unless cpu= or monitor= is given all\n"
            "cpu=samples|times|old|y|off   CPU usage                             off\n"
            "monitor=y|n                   monitor contention                    n\n"
            "format=a|b|acme               text(txt) or binary output            a\n"));
  CHECK(has(
      help,
      "\nnet=<host>:<port>|<path>      send data over a socket               off\n"
      "depth=<size>                  stack trace depth                     4\n"
      "interval=<ms>                 time between samples of a thread; 1 with cpu=times 10\n"
      "clock=cpu|wall                measure CPU time or elapsed time, with cpu=samples and cpu=times cpu\n"
      "cutoff=<value>                output cutoff point                   0.0001\n"));
  CHECK(has(help,
            "\nObsolete Options, accepted without effect\n-----------------------------------------\ngc_okay "
            "debugflags "));
  CHECK(has(kVersionText, "hprof 1."));
  CHECK(has(kVersionText, ", plugin ABI 1."));
  CHECK(has(help, (std::string("\n") + kVersionText + "\n").c_str()));
}

TEST_CASE("help shows the options of every module in the folders") {
  const std::string help = rendered(print_help);
  INFO(help);
  CHECK(has(help,
            "\ncpu_samples: a fake (cpu=samples|cpu=y)\n"
            "  beat=<ms>                   sample interval in ms                 10\n"));
  CHECK(has(help, "\nheap_dump: a fake (heap=dump|heap=all)\n  primfields=y|n "));
  CHECK(has(help, "\ngc_pauses: a fake (gc=pauses)\n"));
  CHECK_FALSE(has(help, "from /jdk"));
  // Where somebody else's come from.
  CHECK(has(help, "\nacme_one: a fake (acme=one|acme=all)\n  from /opt/v/acme.so (Acme Inc.)\n"));
  // cpu_samples has a row for cpu=, which is the core's to show.
  CHECK_FALSE(has(help, "shared"));
}

TEST_CASE("help has an option of several units once, and no units that no option selects") {
  const std::string help = rendered(print_help);
  INFO(help);
  const size_t at = help.find("  wait=<ms> ");
  REQUIRE(at != std::string::npos);
  CHECK(help.find("  wait=<ms> ", at + 1) == std::string::npos);
  CHECK(help.substr(at, help.find('\n', at) - at) ==
        "  wait=<ms>                   give up (sink_x, sink_y)");
  CHECK(has(help, "\nsink_y: a fake (plugin=sink_y)\n"));
  CHECK_FALSE(has(help, "plugin=help_texts"));
}

TEST_CASE("the Markdown table has a row for every option and escapes its bars") {
  const std::string table = rendered(print_option_table);
  INFO(table);
  CHECK(has(table,
            "| `heap=dump\\|sites\\|all\\|acme\\|off` | `all` | heap profiling; all unless cpu= or monitor= "
            "is given |\n"));
  CHECK(has(table, "| `beat=<ms>` | `10` | sample interval in ms (cpu_samples) |\n"));
  CHECK(has(table, "| `force=y\\|n` | `y` | force output to \\<file> |\n"));
  // Obsolete options share a row, and are in no other.
  CHECK(
      has(table,
          "| `gc_okay=`, `debugflags=`, `coredump=`, `errorexit=`, `pause=`, `debug=`, `X=` | | accepted, no "
          "effect |\n"));
  CHECK(!has(table, "`gc_okay=y"));
  CHECK_FALSE(has(table, "shared"));
}

TEST_CASE("the list of modules says where each is and what selects its units") {
  const std::string list =
      rendered([](const ModuleSet& modules, const TextOut& out) { print_modules(modules, nullptr, out); });
  INFO(list);
  CHECK(has(list,
            "cpu_samples 1.0 (fake), plugin ABI 1.0: /jdk/lib/hprof/plugins/cpu_samples.so\n"
            "  collector cpu_samples (cpu=samples|y): a fake\n"));
  CHECK(has(list,
            "acme 2.5 (Acme Inc.), plugin ABI 1.0: /opt/v/acme.so\n"
            "  collector acme_one (acme=one|all): a fake\n"
            "  collector acme_two (acme=two|all|heap=acme): a fake\n"
            "  encoder acme_text (format=acme): a fake\n"
            "  sink acme_cloud (cloud): a fake\n"
            "  filter acme_zstd (compress=zstd*): a fake\n"));
  CHECK(has(list, "\nlooked for in /jdk/lib/hprof/plugins:/jdk/lib:/opt/v\n"));
  CHECK_FALSE(has(list, "    "));
}

TEST_CASE("the long list says what each unit needs, emits, takes and can be told") {
  const std::string list = rendered([](const ModuleSet& modules, const TextOut& out) {
    print_modules(
        modules, [](uint32_t bit) { return bit == 0 ? "can_zero" : "can_else"; }, out);
  });
  INFO(list);
  CHECK(has(list,
            "  collector gc_pauses (gc=pauses): a fake\n"
            "    needs: can_zero, can_else\n"
            "    wants: can_else\n"
            "    needs with gc=pauses: can_else\n"
            "    emits: not said\n"));
  CHECK(has(list,
            "  collector heap_dump (heap=dump|all): a fake\n"
            "    emits: hprof.heap_dump_begin/1\n"
            "    options: primfields=y|n primarrays=y|n\n"));
  CHECK(has(list, "  encoder encoder_ascii (format=a): a fake\n    takes: everything\n"));
  CHECK(has(list, "  ignored: /opt/v/gc_pauses.so\n"));
}
