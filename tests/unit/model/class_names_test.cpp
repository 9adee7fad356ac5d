// What classes are called.
#include "core/model/class_names.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace hprof;

namespace {

std::string java_name(const std::string& signature) {
  std::vector<char> buffer(2 * signature.size() + 9);
  TextWriter name(buffer.data(), buffer.size());
  write_java_name(Str(signature.data(), signature.size()), name);
  CHECK_FALSE(name.cut());
  return std::string(name.text().data, name.size());
}

// "" when the signature is stable as it is.
std::string stable(const std::string& signature) {
  std::vector<char> buffer(signature.size() + 1);
  TextWriter text(buffer.data(), buffer.size());
  const bool changed = write_stable_signature(Str(signature.data(), signature.size()), text);
  CHECK_FALSE(text.cut());
  CHECK(changed == (text.size() > 0));
  return std::string(text.text().data, text.size());
}

}  // namespace

TEST_CASE("signatures become names as in Java source") {
  const char* const rows[][2] = {
      {"Ljava/lang/String;", "java.lang.String"},
      {"Ljava/util/Map$Entry;", "java.util.Map$Entry"},
      {"LMain;", "Main"},
      {"[Ljava/lang/String;", "java.lang.String[]"},
      {"[[B", "byte[][]"},
      {"[C", "char[]"},
      {"[D", "double[]"},
      {"[F", "float[]"},
      {"[[[I", "int[][][]"},
      {"[J", "long[]"},
      {"[S", "short[]"},
      {"[Z", "boolean[]"},
      {"I", "int"},
      {"V", "void"},
      {"LFoo.0x000074e8c4003040;", "Foo/0x000074e8c4003040"},
      {"Lcom/acme/Foo$$Lambda$1/1234567;", "com.acme.Foo$$Lambda$1/1234567"},
      {"[Lcom/acme/Foo$$Lambda.0x0001;", "com.acme.Foo$$Lambda/0x0001[]"},
  };
  for (const auto& row : rows) CHECK(java_name(row[0]) == row[1]);
}

TEST_CASE("what is no signature is its own name") {
  for (const char* text :
       {"", "[", "[[", "Q", "[Q", "L;", "Lfoo", "foo;", "II", "L", ";", "java/lang/String"}) {
    CHECK(java_name(text) == text);
    CHECK(stable(text) == "");
  }
  CHECK(java_name(std::string(255, '[') + "J") == "long" + [] {
    std::string brackets;
    for (int i = 0; i < 255; ++i) brackets += "[]";
    return brackets;
  }());
}

TEST_CASE("names that the VM numbers lose what differs from run to run") {
  const char* const rows[][2] = {
      {"LFoo$$Lambda$14/1234567;", "LFoo$$Lambda;"},
      {"Lcom/acme/Foo$$Lambda$14/0x00000008000c3040;", "Lcom/acme/Foo$$Lambda;"},
      {"Lcom/acme/Foo$$Lambda$14.0x00000008000c3040;", "Lcom/acme/Foo$$Lambda;"},
      {"Lcom/acme/Foo$$Lambda.0x000074e8c4003040;", "Lcom/acme/Foo$$Lambda;"},
      {"Lcom/acme/Foo$$Lambda/0x000074e8c4003040;", "Lcom/acme/Foo$$Lambda;"},
      {"LV$$Lambda.0x0000000000000001;", "LV$$Lambda;"},
      {"[[Lcom/acme/Foo$$Lambda.0x000074e8c4003040;", "[[Lcom/acme/Foo$$Lambda;"},
      {"Lcom/acme/Foo$$Lambda$14;", "Lcom/acme/Foo$$Lambda;"},
      {"Lcom/acme/Script.0x000074e8c4003040;", "Lcom/acme/Script;"},
      {"Lcom/acme/Script.anything goes;", "Lcom/acme/Script;"},
      {"Lcom/acme/Script/1023487453;", "Lcom/acme/Script;"},
      {"Ljava/lang/invoke/LambdaForm$DMH/1023487453;", "Ljava/lang/invoke/LambdaForm$DMH;"},
      {"Ljava/lang/invoke/LambdaForm$MH.0x00007f1234;", "Ljava/lang/invoke/LambdaForm$MH;"},
      {"Ljava/lang/invoke/LambdaForm$MH012.0x00007f1234;", "Ljava/lang/invoke/LambdaForm$MH;"},
      {"Ljava/lang/String$$StringConcat.0x00007f1234;", "Ljava/lang/String$$StringConcat;"},
      {"Lcom/acme/Foo$$InjectedInvoker.0x00007f1234;", "Lcom/acme/Foo$$InjectedInvoker;"},
      {"Ljdk/internal/reflect/GeneratedConstructorAccessor12;",
       "Ljdk/internal/reflect/GeneratedConstructorAccessor;"},
      {"Lsun/reflect/GeneratedMethodAccessor3;", "Lsun/reflect/GeneratedMethodAccessor;"},
      {"Lsun/reflect/GeneratedSerializationConstructorAccessor1;",
       "Lsun/reflect/GeneratedSerializationConstructorAccessor;"},
      {"Ljdk/proxy1/$Proxy7;", "Ljdk/proxy/$Proxy;"},
      {"Lcom/sun/proxy/$Proxy12;", "Lcom/sun/proxy/$Proxy;"},
      {"L$Proxy0;", "L$Proxy;"},
  };
  for (const auto& row : rows) {
    CHECK(stable(row[0]) == row[1]);
    CHECK(stable(row[1]) == "");
  }
}

TEST_CASE("names of people's own classes stay as they are") {
  for (const char* signature : {"Ljava/util/Map$Entry;",
                                "LFoo$1;",
                                "Lcom/acme/Foo$12;",
                                "LFoo$$Lambda;",
                                "La/0;",
                                "La/b/12;",
                                "La/0x;",
                                "La/0xyz;",
                                "L1234;",
                                "Lcom/acme/Proxy7;",
                                "Lcom/acme/My$Proxy7;",
                                "Lcom/acme/GeneratedMethodAccessor3;",
                                "Ljava/lang/invoke/LambdaForm$Kind7;",
                                "Lcom/acme/LambdaForm$MH012;",
                                "Ljdk/proxyx/Foo;",
                                "Ljdk/proxy/Foo;",
                                "L$$Lambda$;",
                                "[I",
                                "I",
                                "L.0x12;"}) {
    CHECK(stable(signature) == "");
  }
}

TEST_CASE("a Java name becomes a signature") {
  char buffer[64];
  TextWriter signature(buffer, sizeof buffer);
  write_signature("java.util.Map$Entry", signature);
  CHECK(std::string(buffer) == "Ljava/util/Map$Entry;");
}
