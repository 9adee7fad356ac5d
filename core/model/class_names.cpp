#include "core/model/class_names.h"

#include "core/base/text_tools.h"

namespace hprof {
namespace {

bool all_hex(Str text) {
  for (size_t i = 0; i < text.size; ++i) {
    if (!is_hex_digit(text[i])) return false;
  }
  return !text.empty();
}

size_t digits_at_end(Str text) {
  size_t count = 0;
  while (count < text.size && is_digit(text[text.size - 1 - count])) ++count;
  return count;
}

struct Parts {
  size_t dimensions = 0;
  Str body;  // between L and ; of a class, or the primitive's letter
  bool is_class = false;
  size_t base = 0;  // the body's length before the VM's suffix and its separator
};

// The length of the class file's name in a class' body, before the VM's suffix.
size_t base_size(Str body) {
  const size_t dot = body.find('.');
  if (dot > 0 && dot < body.size) return dot;
  const size_t slash = find_last(body, '/');
  if (slash == 0 || slash == body.size) return body.size;
  const Str last = body.part(slash + 1);
  const bool address = starts_with(last, "0x") && all_hex(last.part(2));
  const bool hash_code = last.size >= 4 && digits_at_end(last) == last.size;
  return address || hash_code ? slash : body.size;
}

bool split(Str signature, Parts* parts) {
  while (parts->dimensions < signature.size && signature[parts->dimensions] == '[') ++parts->dimensions;
  const Str element = signature.part(parts->dimensions);
  if (element.size == 1) {
    parts->body = element;
    parts->base = 1;
    return true;
  }
  if (element.size < 3 || element[0] != 'L' || element[element.size - 1] != ';') return false;
  parts->is_class = true;
  parts->body = element.part(1, element.size - 1);
  parts->base = base_size(parts->body);
  return true;
}

bool is_numbered_accessor(Str package, Str stem) {
  if (package != "sun/reflect/" && package != "jdk/internal/reflect/") return false;
  return stem == "GeneratedMethodAccessor" || stem == "GeneratedConstructorAccessor" ||
         stem == "GeneratedSerializationConstructorAccessor";
}

// True: LambdaForm$DMH012; the letters before the digits are capitals.
bool is_lambda_form(Str package, Str stem) {
  if (package != "java/lang/invoke/" || !starts_with(stem, "LambdaForm$")) return false;
  const Str kind = stem.part(11);
  for (size_t i = 0; i < kind.size; ++i) {
    if (kind[i] < 'A' || kind[i] > 'Z') return false;
  }
  return !kind.empty();
}

// The size of the end of a class name that a counter of the VM made: digits and the '$' before them.
size_t numbered_end(Str package, Str name) {
  const size_t digits = digits_at_end(name);
  if (digits == 0) return 0;
  const Str stem = name.part(0, name.size - digits);
  if (stem.size > 9 && ends_with(stem, "$$Lambda$")) return digits + 1;
  if (stem == "$Proxy" || is_numbered_accessor(package, stem) || is_lambda_form(package, stem)) return digits;
  return 0;
}

bool is_proxy_package(Str package) {
  if (!starts_with(package, "jdk/proxy") || !ends_with(package, "/")) return false;
  const Str number = package.part(9, package.size - 1);
  return !number.empty() && digits_at_end(number) == number.size;
}

void put_replaced(TextWriter& out, Str text, char from, char to) {
  while (!text.empty()) {
    const size_t run = text.find(from);
    out.put(text.part(0, run));
    if (run == text.size) break;
    out.put(to);
    text = text.part(run + 1);
  }
}

Str primitive_name(char letter) {
  switch (letter) {
    case 'B':
      return "byte";
    case 'C':
      return "char";
    case 'D':
      return "double";
    case 'F':
      return "float";
    case 'I':
      return "int";
    case 'J':
      return "long";
    case 'S':
      return "short";
    case 'V':
      return "void";
    case 'Z':
      return "boolean";
    default:
      return Str();
  }
}

}  // namespace

bool write_stable_signature(Str signature, TextWriter& stable) {
  Parts parts;
  if (!split(signature, &parts) || !parts.is_class) return false;
  const Str base = parts.body.part(0, parts.base);
  const size_t slash = find_last(base, '/');
  const size_t name_start = slash == base.size ? 0 : slash + 1;
  const Str package = base.part(0, name_start);
  const Str name = base.part(name_start);
  const size_t drop = numbered_end(package, name);
  const bool proxy = is_proxy_package(package);
  if (drop == 0 && !proxy && parts.base == parts.body.size) return false;
  stable.put(signature.part(0, parts.dimensions)).put('L');
  stable.put(proxy ? Str("jdk/proxy/") : package).put(name.part(0, name.size - drop)).put(';');
  return true;
}

void write_java_name(Str signature, TextWriter& name) {
  Parts parts;
  const bool valid = split(signature, &parts);
  const Str primitive = valid && !parts.is_class ? primitive_name(parts.body[0]) : Str();
  if (!valid || (!parts.is_class && primitive.empty())) {
    name.put(signature);
    return;
  }
  if (parts.is_class) {
    put_replaced(name, parts.body.part(0, parts.base), '/', '.');
    if (parts.base < parts.body.size) name.put('/').put(parts.body.part(parts.base + 1));
  } else {
    name.put(primitive);
  }
  for (size_t i = 0; i < parts.dimensions; ++i) name.put("[]");
}

void write_signature(Str java_name, TextWriter& signature) {
  signature.put('L');
  put_replaced(signature, java_name, '.', '/');
  signature.put(';');
}

}  // namespace hprof
