#include "address.h"

namespace hprof::http {

namespace {

constexpr char kScheme[] = "http://";
constexpr char kSecure[] = "https://";
constexpr char kNames[] = "{name} {unit} {from} {until} {host} {pid} {sequence} {labels}";
constexpr uint32_t kNameMost = 16;  // bytes of a name in braces

bool fail(char* error, uint32_t error_size, const char* text) {
  TextBuffer(error, error_size).add("url=: ").add(text);
  return false;
}

bool starts_with(const char* text, const char* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void put_encoded(TextBuffer* to, const char* text, uint64_t size) {
  for (uint64_t i = 0; i < size; i++) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (is_plain(text[i])) {
      to->add(text + i, 1);
    } else {
      const char code[] = {'%', "0123456789ABCDEF"[c >> 4], "0123456789ABCDEF"[c & 15], 0};
      to->add(code);
    }
  }
}

void put_encoded(TextBuffer* to, const char* text) { put_encoded(to, text, std::strlen(text)); }

bool is_service(hprof_text name) { return name.size == 7 && std::memcmp(name.data, "service", 7) == 0; }

void put_name(TextBuffer* to, const char* labels) {
  bool found = false;
  each_pair(labels, ':', ";", [&](hprof_text name, hprof_text value) {
    if (found || !is_service(name)) return;
    found = true;
    put_encoded(to, value.data, value.size);
  });
  if (!found) to->add("java");
}

// Appends {env=prod,zone=b}, Pyroscope's form of labels after a name.
void put_labels(TextBuffer* to, const char* labels) {
  bool any = false;
  each_pair(labels, ':', ";", [&](hprof_text name, hprof_text value) {
    if (is_service(name)) return;
    put_encoded(to, any ? "," : "{");
    any = true;
    put_encoded(to, name.data, name.size);
    put_encoded(to, "=");
    put_encoded(to, value.data, value.size);
  });
  if (any) put_encoded(to, "}");
}

// Appends the value of {name}. False: there is no such name.
bool put_fact(const char* name, uint64_t size, const Facts& facts, TextBuffer* to) {
  const auto is = [&](const char* other) {
    return std::strlen(other) == size && std::memcmp(name, other, size) == 0;
  };
  if (is("name")) {
    put_name(to, facts.labels);
  } else if (is("labels")) {
    put_labels(to, facts.labels);
  } else if (is("unit")) {
    put_encoded(to, facts.unit);
  } else if (is("host")) {
    put_encoded(to, facts.host);
  } else if (is("from")) {
    to->add(facts.from);
  } else if (is("until")) {
    to->add(facts.until);
  } else if (is("pid")) {
    to->add(facts.pid);
  } else if (is("sequence")) {
    to->add(facts.sequence);
  } else {
    return false;
  }
  return true;
}

// Replaces names in braces. False: an unknown name, or an unmatched brace.
bool expand(const char* pattern, const Facts& facts, TextBuffer* to) {
  while (*pattern != 0) {
    const uint64_t plain = std::strcspn(pattern, "{}");
    to->add(pattern, plain);
    pattern += plain;
    if (*pattern == 0) break;
    const uint64_t size = std::strcspn(pattern + 1, "{}");
    if (*pattern == '}' || size > kNameMost || pattern[1 + size] != '}') return false;
    if (!put_fact(pattern + 1, size, facts, to)) return false;
    pattern += size + 2;
  }
  return true;
}

// Parses host, host:port, [address]:port.
bool parse_authority(const char* text, uint64_t size, Url* url) {
  if (size == 0 || size + 4 > kHostMost) return false;
  const char* last = text + size;
  const char* bracket = text[0] == '[' ? static_cast<const char*>(std::memchr(text, ']', size)) : nullptr;
  if (text[0] == '[' && bracket == nullptr) return false;
  const char* rest = bracket != nullptr ? bracket + 1 : text;
  const auto* colon = static_cast<const char*>(std::memchr(rest, ':', static_cast<uint64_t>(last - rest)));
  if (bracket != nullptr && rest != last && rest != colon) return false;
  if (colon == text) return false;
  uint64_t port = 80;
  if (colon != nullptr) {
    port = 0;
    for (const char* at = colon + 1; at != last; at++) {
      if (*at < '0' || *at > '9' || port > 65535) return false;
      port = port * 10 + static_cast<uint64_t>(*at - '0');
    }
    if (port == 0 || port > 65535) return false;
  }
  const auto host = static_cast<uint64_t>((colon != nullptr ? colon : last) - text);
  TextBuffer(url->connect, kHostMost).add(text, host).add(":").add(port);
  TextBuffer shown(url->host, kHostMost);
  shown.add(text, host);
  if (port != 80) shown.add(":").add(port);
  return true;
}

}  // namespace

bool parse_url(const char* text, Url* url, char* error, uint32_t error_size) {
  if (starts_with(text, kSecure))
    return fail(
        error, error_size,
        "https is not supported, the agent has no TLS: post to a collector on this machine over http, which "
        "forwards (docs/continuous.md)");
  if (!starts_with(text, kScheme)) return fail(error, error_size, "it must be http://host[:port]/path");
  const uint64_t length = std::strlen(text);
  if (length >= kUrlMost) return fail(error, error_size, "it is too long");
  for (uint64_t i = 0; i < length; i++) {
    if (text[i] <= ' ' || text[i] == 0x7f)
      return fail(error, error_size, "it has a blank or a control character, or one that is not ASCII");
  }
  const char* authority = text + sizeof kScheme - 1;
  const uint64_t size = std::strcspn(authority, "/?#");
  if (std::memchr(authority, '@', size) != nullptr)
    return fail(error, error_size, "it has a user in it: use http-header=Authorization:<value>");
  if (!parse_authority(authority, size, url)) return fail(error, error_size, "its host or port is invalid");
  url->pattern = authority + size;
  if (std::strchr(url->pattern, '#') != nullptr)
    return fail(error, error_size, "a '#' is not sent to a server");
  char filled[kTargetMost];
  TextBuffer target(filled, sizeof filled);
  if (!expand(url->pattern, {"", "", "", 0, 0, 0, 0}, &target)) {
    TextBuffer(error, error_size).add("url=: braces are for ").add(kNames).add("; others are %7B and %7D");
    return false;
  }
  TextBuffer(url->shown, sizeof url->shown).add(text, std::strcspn(text, "?"));
  return true;
}

bool fill_in(const char* pattern, const Facts& facts, char (&target)[kTargetMost]) {
  TextBuffer to(target, sizeof target);
  if (*pattern != '/') to.add("/");
  return expand(pattern, facts, &to) && !to.cut();
}

bool put_headers(const char* text, TextBuffer* lines, char* error, uint32_t error_size) {
  TextBuffer why(error, error_size);
  while (*text != 0) {
    const uint64_t size = std::strcspn(text, "|");
    const uint64_t name = std::strcspn(text, ":|");
    if (name == 0 || name >= size) {
      why.add("http-header=: it must be <name>:<value>[|...]");
      return false;
    }
    for (uint64_t i = 0; i < size; i++) {
      const bool bad = i < name ? !is_plain(text[i]) : static_cast<unsigned char>(text[i]) < ' ';
      if (!bad) continue;
      why.add("http-header=: a name or value has a character that headers cannot have");
      return false;
    }
    uint64_t value = name + 1;
    while (value < size && text[value] == ' ') value++;
    lines->add(text, name).add(": ").add(text + value, size - value).add("\r\n");
    text += size;
    if (*text == '|') text++;
  }
  if (lines->cut()) why.add("http-header=: it is too long");
  return !lines->cut();
}

const char* header_value(const char* lines, const char* name) {
  const uint64_t size = std::strlen(name);
  while (*lines != 0) {
    uint64_t same = 0;
    while (same < size && (lines[same] | 0x20) == name[same]) same++;
    if (same == size && lines[same] == ':') {
      lines += size + 1;
      while (*lines == ' ') lines++;
      return lines;
    }
    lines += std::strcspn(lines, "\n");
    if (*lines == '\n') lines++;
  }
  return nullptr;
}

}  // namespace hprof::http
