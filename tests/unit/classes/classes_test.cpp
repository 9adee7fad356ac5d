// Generators of classes by name and definer; the VM's answer on metaspace.
#include <cstring>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "plugins/classes/generators.h"
#include "plugins/classes/metaspace.h"

using namespace hprof::classes;

namespace {

std::string generator(const char* signature, const char* definer = "") {
  const char* found = generator_of(signature, {definer, std::strlen(definer)});
  return found != nullptr ? found : "none";
}

std::vector<std::string> lines(const char* text) {
  std::vector<std::string> found;
  each_loader_line(text, &found, [](void* to, hprof_text name, uint64_t bytes) {
    static_cast<std::vector<std::string>*>(to)->push_back(std::string(name.data, name.size) + "=" +
                                                          std::to_string(bytes));
  });
  return found;
}

}  // namespace

TEST_CASE("generated classes are known by their names") {
  CHECK(generator("LShop$$Lambda.0x00007f3c01003000;") == "lambda");
  CHECK(generator("LShop$$Lambda$14/1234;") == "lambda");
  CHECK(generator("Lcom/sun/proxy/$Proxy12;") == "proxy");
  CHECK(generator("L$Proxy0;") == "proxy");
  CHECK(generator("Lcom/acme/Foo$ProxyFactory;") == "none");
  CHECK(generator("Lsun/reflect/GeneratedMethodAccessor7;") == "reflection");
  CHECK(generator("Ljava/lang/invoke/LambdaForm$DMH.0x1;") == "method handle");
  CHECK(generator("Lcom/acme/Bean$$EnhancerBySpringCGLIB$$1a2b;") == "cglib");
  CHECK(generator("Lcom/acme/Foo.0x00000008000c1000;") == "hidden");
  CHECK(generator("Lcom/acme/Foo/1234;") == "hidden");
  CHECK(generator("Lcom/acme/Foo;") == "none");
  CHECK(generator("") == "none");
}

TEST_CASE("or by the method that defines them") {
  CHECK(generator("Lscript1;", "groovy.lang.GroovyClassLoader$InnerLoader") == "groovy");
  CHECK(generator("Lscript1;", "net.bytebuddy.dynamic.loading.ByteArrayClassLoader") == "bytebuddy");
  CHECK(generator("Lscript1;", "com.acme.Loader") == "none");
}

TEST_CASE("metaspace is read line by line") {
  const char* answer =
      "ClassLoader         Parent              CLD*               Classes   ChunkSz   BlockSz  Type\n"
      "0x0000000800c06e48  0x0000000000000000  0x00007f3d9c1a0f50       1      6144      3960  "
      "com.acme.Loader\n"
      "0x0000000000000000  0x0000000000000000  0x00007f3d9c0fd2f0     472   4390912   4381536  <boot class "
      "loader>\n"
      "                                                              110    161792    101752   + hidden "
      "classes\n"
      "Total = 2                                                       583   4558848   4487248\n"
      "ChunkSz: Total size of all allocated metaspace chunks\n";
  CHECK(lines(answer) == std::vector<std::string>{"com.acme.Loader=6144", "<boot class loader>=4390912",
                                                  "<boot class loader>=161792"});
}

TEST_CASE("what is no such answer is skipped") {
  for (const char* text :
       {"", "\n", "0x", "0x1 0x2", "0x1 0x2 0x3", "0x1 0x2 0x3 4", "0x1 0x2 0x3 4 5", "0x1 0x2 0x3 4 5 6 ",
        "7 8 9 + hidden classes", "0x1\n2 3 4", "Unknown diagnostic command\n"})
    CHECK(lines(text).empty());
  CHECK(lines("0x1 0x2 0x3 4 99999999999999999999 6 A") ==
        std::vector<std::string>{"A=18446744073709551615"});
}
