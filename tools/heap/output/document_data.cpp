// Renders documents as JSON and CSV.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <set>

#include "tools/format/binary_format.h"
#include "tools/format/value_text.h"
#include "tools/heap/output/document.h"

namespace hprof::tool {

namespace {

// Bytes of the well-formed character at this position; 0: there is none, or a surrogate.
size_t utf8_length(const std::string& text, size_t at) {
  auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<uint8_t>(text[at + i]) : uint8_t{0};
  };
  uint8_t c = byte(0), second = byte(1);
  size_t length = c < 0x80                ? 1
                  : c >= 0xc2 && c < 0xe0 ? 2
                  : c >= 0xe0 && c < 0xf0 ? 3
                  : c >= 0xf0 && c < 0xf5 ? 4
                                          : 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  bool overlong = (c == 0xe0 && second < 0xa0) || (c == 0xf0 && second < 0x90);
  bool outside = (c == 0xed && second >= 0xa0) || (c == 0xf4 && second >= 0x90);
  return overlong || outside ? 0 : length;
}

// A field of JSON and CSV with its value: a column has one or several.
struct DataField {
  std::string key;
  Cell value;  // no HeapEntity
};

std::vector<DataField> fields_of(const Column& column, const Cell& cell) {
  static constexpr const char* kKinds[] = {"", "object", "class", "stack"};
  const bool object = column.kind == CellKind::kObject;
  // Shares have 6 decimals.
  if (auto* share = std::get_if<double>(&cell); share != nullptr && column.kind == CellKind::kPercent)
    return {{column.key, std::round(*share * 1e6) / 1e6}};
  if (!object && column.kind != CellKind::kClass) return {{column.key, cell}};
  Cell text, id, kind, class_name;
  if (auto* entity = std::get_if<HeapEntity>(&cell)) {
    if (entity->kind != HeapEntity::kNone) {
      text = entity->text;
      kind = std::string(kKinds[entity->kind]);
    }
    if (entity->id != 0) id = value_text(HPROF_TYPE_OBJECT, entity->id);
    if (!entity->class_name.empty()) class_name = entity->class_name;
  } else {
    text = cell;
  }
  std::vector<DataField> fields = {{column.key, text}, {column.key + "_id", id}};
  if (object) {
    fields.push_back({column.key + "_kind", kind});
    fields.push_back({column.key + "_class", class_name});
  }
  return fields;
}

std::vector<DataField> fields_of(const Table& table, size_t row) {
  std::vector<DataField> all;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const auto& cells = table.rows[row];
    for (DataField& field : fields_of(table.columns[i], i < cells.size() ? cells[i] : Cell()))
      all.push_back(std::move(field));
  }
  return all;
}

// The shortest text that reads back as this number; "" when it is not finite.
std::string real_text(double value) {
  if (!std::isfinite(value)) return "";
  char text[40];
  for (int digits : {6, 15, 16, 17}) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return text;
}

// A number's digits; "" for other cells.
std::string number_text(const Cell& cell) {
  if (auto* number = std::get_if<uint64_t>(&cell)) return std::to_string(*number);
  if (auto* number = std::get_if<int64_t>(&cell)) return std::to_string(*number);
  if (auto* number = std::get_if<double>(&cell)) return real_text(*number);
  return "";
}

void json_texts(const std::vector<std::string>& texts, std::ostream& out) {
  out << '[';
  for (size_t i = 0; i < texts.size(); ++i) out << (i == 0 ? "" : ",") << json_string(texts[i]);
  out << ']';
}

void json_fields(const std::vector<DataField>& fields, bool first, std::ostream& out) {
  for (const DataField& field : fields) {
    out << (first ? "" : ",") << json_string(field.key) << ":";
    first = false;
    const std::string number = number_text(field.value);
    if (auto* text = std::get_if<std::string>(&field.value)) {
      out << json_string(*text);
    } else if (auto* texts = std::get_if<std::vector<std::string>>(&field.value)) {
      json_texts(*texts, out);
    } else {
      out << (number.empty() ? "null" : number);
    }
  }
}

void json_section(const Section& section, std::ostream& out) {
  out << "{\"title\":" << json_string(section.title) << ",\"text\":";
  json_texts(section.text, out);
  out << ",\n\"facts\":{";
  for (size_t i = 0; i < section.facts.size(); ++i)
    json_fields(fields_of(section.facts[i].column, section.facts[i].value), i == 0, out);
  out << "},\"left_out\":{";
  for (size_t i = 0; i < section.tables.size(); ++i)
    out << (i == 0 ? "" : ",") << json_string(section.tables[i].key) << ":" << section.tables[i].left_out;
  out << "}";
  for (const Table& table : section.tables) {
    out << ",\n" << json_string(table.key) << ":[";
    for (size_t r = 0; r < table.rows.size(); ++r) {
      out << (r == 0 ? "\n{" : ",\n{");
      json_fields(fields_of(table, r), true, out);
      out << "}";
    }
    out << "]";
  }
  out << ",\n\"parts\":[";
  for (size_t i = 0; i < section.parts.size(); ++i) {
    out << (i == 0 ? "" : ",");
    json_section(section.parts[i], out);
  }
  out << "]}";
}

struct PlacedTable {
  const Table* table;
  size_t part;  // number of its section among the parts, 0 = it is none
};

void collect_tables(const Section& section, size_t part, std::vector<PlacedTable>* tables) {
  for (const Table& table : section.tables) tables->push_back({&table, part});
  for (size_t i = 0; i < section.parts.size(); ++i) collect_tables(section.parts[i], i + 1, tables);
}

}  // namespace

void write_json(const Document& document, std::ostream& out) {
  out << "{\"schema\":" << json_string(document.schema) << ",\"problems\":";
  json_texts(document.problems, out);
  for (const Section& section : document.sections) {
    out << ",\n" << json_string(section.key) << ":";
    json_section(section, out);
  }
  out << "\n}\n";
}

std::string write_csv(const Document& document, std::string key, std::ostream& out, uint64_t* left_out) {
  std::vector<PlacedTable> tables;
  for (const Section& section : document.sections) collect_tables(section, 0, &tables);
  std::string known;
  for (const PlacedTable& each : tables) {
    if (key.empty()) key = each.table->key;
    if ((", " + known + ",").find(", " + each.table->key + ",") == std::string::npos)
      known += (known.empty() ? "" : ", ") + each.table->key;
  }
  const PlacedTable* head = nullptr;
  *left_out = 0;
  for (const PlacedTable& each : tables) {
    if (each.table->key != key) continue;
    *left_out += each.table->left_out;
    if (head == nullptr) {
      head = &each;
      std::string before = each.part != 0 ? "part," : "";
      for (const Column& column : each.table->columns) {
        for (const DataField& field : fields_of(column, {})) {
          out << before << csv_text(field.key);
          before = ",";
        }
      }
      out << "\n";
    }
    for (size_t row = 0; row < each.table->rows.size(); ++row) {
      std::string before = head->part != 0 ? std::to_string(each.part) + "," : "";
      for (const DataField& field : fields_of(*each.table, row)) {
        auto* text = std::get_if<std::string>(&field.value);
        out << before << (text != nullptr ? csv_text(*text) : number_text(field.value));
        before = ",";
      }
      out << "\n";
    }
  }
  if (head != nullptr) return "";
  return "this answer has no table" + (key.empty() ? "" : " " + key) +
         (known.empty() ? "" : ", only " + known);
}

std::vector<std::string> distinct_keys(std::vector<std::string> names,
                                       const std::vector<std::string>& taken) {
  std::set<std::string> known(taken.begin(), taken.end());
  for (std::string& name : names)
    while (!known.insert(name).second) name += '_';
  return names;
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"')
        fields.back() += line[++i];
      else
        quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

std::string json_string(const std::string& text) {
  std::string result = "\"";
  for (size_t at = 0; at < text.size();) {
    char c = text[at];
    auto byte = static_cast<unsigned char>(c);
    size_t length = utf8_length(text, at);
    const auto second = static_cast<unsigned char>(length > 1 ? text[at + 1] : 0);
    if (length == 0) {
      result += "\\ufffd";
      length = 1;
    } else if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f || (byte == 0xc2 && second < 0xa0)) {  // U+0080 to U+009F, too
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte == 0xc2 ? second : byte);
      result += escaped;
    } else {
      result.append(text, at, length);
    }
    at += length;
  }
  return result + "\"";
}

}  // namespace hprof::tool
