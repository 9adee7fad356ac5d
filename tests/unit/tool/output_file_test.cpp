// -o FILE and --force: the suffix says the format, and existing files are kept.
#include "tools/hprof/output_file.h"

#include <fstream>
#include <sstream>

#include "tests/unit/tool/command_support.h"
#include "tools/format/gzip_source.h"
#include "tools/hprof/agent/options.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string chosen(const std::string& wanted, const std::string& suffix, bool force = false,
                   Taken taken = Taken::kFiles) {
  std::string path, error;
  return choose_file(wanted, suffix, force, taken, &path, &error) ? path : "ERROR " + error;
}

}  // namespace

TEST_CASE("a name's suffix is letters and digits after its last dot") {
  CHECK(suffix_of_name("app.txt") == ".txt");
  CHECK(suffix_of_name("a.b/app.pb.gz") == ".pb");
  CHECK(suffix_of_name("app.SVG") == ".SVG");
  for (const char* name : {"", "app", ".txt", "app-1.2", "a.b/app", "app.%p", "app.", "app.gz", "app.a-b"})
    CHECK(suffix_of_name(name).empty());
}

TEST_CASE("an existing file is kept, and the new one gets the next number") {
  Files files;
  const std::string file = files.put("app.otlp.pb", "old"), other = files.folder + "/app.2.otlp.pb";
  CHECK(chosen(files.folder + "/new.txt", ".txt") == files.folder + "/new.txt");
  CHECK(chosen(file, ".otlp.pb") == other);
  files.put("app.2.otlp.pb", "old");
  CHECK(chosen(file, ".otlp.pb") == files.folder + "/app.3.otlp.pb");
  CHECK(chosen(file, ".otlp.pb", true) == file);
  CHECK(chosen(file, "") == file + ".2");
  CHECK(chosen(files.folder, ".txt").rfind("ERROR ", 0) == 0);
  CHECK(chosen("-", ".txt") == "-");
  CHECK(chosen("/dev/null", ".txt") == "/dev/null");
  CHECK(chosen("/dev/null", "", false, Taken::kAnything) == "/dev/null.2");
}

TEST_CASE("convert, view, diff and heap keep an existing file unless --force is given") {
  Files files;
  const std::string stacks = files.put("a.collapsed", "main;a.A.run 3\n"), page = files.put("p.html", "mine");
  const std::string pprof = files.put("a.pb", "mine");
  CHECK(said({"convert", stacks, "-o", pprof}) == files.folder + "/a.2.pb\n");
  CHECK(said({"view", stacks, "-o", page}) == files.folder + "/p.2.html\n");
  CHECK(has(said({"diff", stacks, stacks, "-o", page}), files.folder + "/p.3.html\n"));
  CHECK(has(complained({"view", stacks, "-o", page}),
            page + " is kept (--force replaces it): writing to " + files.folder + "/p.4.html\n"));
  CHECK(text_of(page) == "mine");
  CHECK(text_of(pprof) == "mine");
  CHECK(said({"view", stacks, "-o", page, "--force"}) == page + "\n");
  CHECK(said({"convert", stacks, "-o", pprof, "--force"}) == pprof + "\n");
  CHECK(text_of(page) != "mine");
  CHECK(text_of(pprof) != "mine");
}

TEST_CASE("convert compresses a file with .gz, which a page is not") {
  Files files;
  const std::string stacks = files.put("a.collapsed", "main;a.A.run 3\n"), packed = files.folder + "/a.pb.gz";
  if (!kInflates) {
    CHECK(has(complained({"convert", stacks, "-o", packed}), "this build has no zlib"));
    return;
  }
  CHECK(said({"convert", stacks, "-o", packed}) == packed + "\n");
  CHECK(text_of(packed).rfind("\x1f\x8b", 0) == 0);
  CHECK(has(said({"print", packed}), "a.A.run"));
  CHECK(said({"convert", stacks, "-o", packed}) == files.folder + "/a.2.pb.gz\n");
  std::string large(size_t{1} << 20, ' ');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>('!' + i * i % 89);
  const std::string name = files.put("b.collapsed", "main;" + large.substr(0, 1 << 19) + " 3\n");
  CHECK(said({"convert", name, "-o", files.folder + "/b.collapsed.gz"}) ==
        files.folder + "/b.collapsed.gz\n");
  said({"convert", files.folder + "/b.collapsed.gz", "-o", files.folder + "/c.folded"});
  CHECK(text_of(files.folder + "/c.folded") == text_of(name));
  CHECK(has(complained({"view", stacks, "-o", files.folder + "/a.html.gz"}), "a page is .html"));
}

TEST_CASE("the name that was chosen may replace the one that was wanted") {
  Files files;
  std::string path = files.put("p.html", "mine");
  Given given;
  std::ostringstream err;
  std::streambuf* old = std::cerr.rdbuf(err.rdbuf());
  CHECK(write_output(given, path, ".html", "new", &path) == kDone);
  std::cerr.rdbuf(old);
  CHECK(path == files.folder + "/p.2.html");
  CHECK(has(err.str(), "p.html is kept"));
}

TEST_CASE("a page of a difference is .html") {
  Files files;
  const std::string stacks = files.put("a.collapsed", "main;a.A.run 3\n");
  CHECK(has(complained({"diff", stacks, stacks, "-o", "c.svg"}), "-o c.svg: a page is .html"));
}

TEST_CASE("a suffix that a command cannot write is refused, and those there are get listed") {
  Files files;
  const std::string stacks = files.put("a.collapsed", "main;a.A.run 3\n");
  for (const Arguments& line :
       {Arguments{"run", "-o", "a.svg", "--", "java"}, Arguments{"profile", "4711", "-o", "a.svg"},
        Arguments{"attach", "4711", "-o", "a.svg"}, Arguments{"listen", "-o", "a.svg"}}) {
    const std::string text = complained(line);
    CHECK(has(text, "hprof " + line[0] + ": -o a.svg: no format has this suffix; there are "));
    for (const char* suffix : {".txt", ".hprof", ".html", ".pb", ".jfr", ".json", ".otlp.pb", ".collapsed"})
      CHECK(has(text, suffix));
  }
  CHECK(has(complained({"convert", stacks, "-o", "a.svg"}), "collapsed (.collapsed), pprof (.pb)"));
  CHECK(has(complained({"view", stacks, "-o", "a.svg"}),
            "a page is .html; hprof convert writes other formats"));
  CHECK(fault_of_file("cpu=samples,format=pprof", "a.svg").empty());
  for (const char* file : {"", "app", "app-1.2", "app.pb.gz", "app.txt.gz", "app-%n.collapsed"})
    CHECK(fault_of_file("cpu=samples", file).empty());
}

TEST_CASE("-o FILE becomes file= and the format of its suffix") {
  const auto added = [](std::string options, const std::string& file, bool force = false) {
    const std::string fault = add_file(file, force, &options);
    return fault.empty() ? options : "ERROR " + fault;
  };
  CHECK(added("", "a.html") == "file=a.html,format=flamegraph");
  CHECK(added("cpu=samples", "a.txt", true) == "cpu=samples,file=a.txt,force=y");
  CHECK(added("heap=sites,force=n", "a.hprof", true) == "heap=sites,force=n,file=a.hprof,format=b");
  CHECK(added("cpu=samples", "a.txt.gz") == "cpu=samples,file=a.txt.gz,compress=gzip");
  CHECK(added("compress=n", "a.txt.gz") == "compress=n,file=a.txt.gz");
  CHECK(added("", "a.folded") == "file=a.folded,format=collapsed");
  CHECK(added("file=a.jfr", "") == "file=a.jfr,format=jfr");
  CHECK(added("", "").empty());
  CHECK(added("file=a.txt", "b.txt").rfind("ERROR ", 0) == 0);
}

TEST_CASE("cpu=samples is added where no option may choose a collector") {
  for (const char* options :
       {"", "depth=8", "clock=wall,threads=main", "format=pprof,file=a.pb.gz", "compress=gzip",
        "every=60,url=http://h/", "start=n, control=y", "max-memory=1g", "sampler=native"})
    CHECK_FALSE_MESSAGE(chooses_collector(options), options);
  for (const char* options : {"heap=sites", "depth=8,cpu=times", " monitor=y", "plugin=context", "latency=A",
                              "jvmpi=y", "vendor=y", "help", "redact=full"})
    CHECK_MESSAGE(chooses_collector(options), options);
}
