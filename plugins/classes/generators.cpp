#include "generators.h"

#include <cstring>

#include <hprof/cpp/names.hpp>

namespace hprof::classes {

namespace {

struct Generator {
  const char* name;
  const char* text;
};
// Parts of class names; '#' stands for a digit. The first that fits.
constexpr Generator kByName[] = {
    {"lambda", "$$Lambda"},
    {"string concatenation", "$$StringConcat"},
    {"method handle", "java/lang/invoke/LambdaForm$"},
    {"method handle", "java/lang/invoke/BoundMethodHandle$Species_"},
    {"method handle", "$$InjectedInvoker"},
    {"proxy", "$Proxy#"},
    {"reflection", "GeneratedMethodAccessor#"},
    {"reflection", "GeneratedConstructorAccessor#"},
    {"reflection", "GeneratedSerializationConstructorAccessor#"},
    {"cglib", "$$EnhancerBy"},
    {"cglib", "$$FastClassBy"},
    {"cglib", "$$SpringCGLIB$$"},
    {"bytebuddy", "$ByteBuddy$"},
    {"javassist", "_$$_jvst"},
};
// Beginnings of the name of the class that defines it.
constexpr Generator kByDefiner[] = {
    {"groovy", "groovy.lang.GroovyClassLoader"},
    {"groovy", "org.codehaus.groovy."},
    {"groovy", "org.apache.groovy."},
    {"cglib", "net.sf.cglib."},
    {"cglib", "org.springframework.cglib."},
    {"bytebuddy", "net.bytebuddy."},
    {"javassist", "javassist."},
    {"clojure", "clojure.lang.DynamicClassLoader"},
    {"script", "org.mozilla.javascript."},
    {"script", "org.openjdk.nashorn."},
    {"jruby", "org.jruby."},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_at(const char* text, const char* pattern) {
  for (; *pattern != '\0'; text++, pattern++) {
    if (*text == '\0' || (*pattern == '#' ? !is_digit(*text) : *text != *pattern)) return false;
  }
  return true;
}

// Lcom/acme/Foo.0x0000000800001000; from JDK 15 on, Lcom/acme/Foo/1234; before.
bool is_hidden(const char* signature) {
  const char* slash = std::strrchr(signature, '/');
  return std::strchr(signature, '.') != nullptr || (slash != nullptr && is_digit(slash[1]));
}

}  // namespace

const char* generator_of(const char* signature, hprof_text definer) {
  for (const Generator& generator : kByName) {
    for (const char* at = signature; *at != '\0'; at++) {
      if (is_at(at, generator.text)) return generator.name;
    }
  }
  for (const Generator& generator : kByDefiner) {
    if (begins_with(definer, generator.text)) return generator.name;
  }
  return is_hidden(signature) ? "hidden" : nullptr;
}

}  // namespace hprof::classes
