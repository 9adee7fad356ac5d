// A reader of the binary format for tests, written from the manual and not from the encoder. Strict: what a
// heap analyser would refuse is an error here. Keeps everything in maps and lists for tests to look at.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace hprof {

struct BinaryFile {
  std::string version;
  uint32_t id_size = 0;
  uint64_t created_ms = 0;

  struct Record {
    uint32_t tag, time, length;
  };
  std::vector<Record> records;

  std::map<uint64_t, std::string> strings;
  struct Class {
    uint64_t object;
    uint32_t trace;
    std::string name;
  };
  std::map<uint32_t, Class> classes;
  std::set<uint32_t> unloaded;
  struct Frame {
    std::string method, signature, source;
    uint32_t owner;
    int32_t line;
  };
  std::map<uint64_t, Frame> frames;
  struct Trace {
    uint32_t thread;
    std::vector<uint64_t> frames;
  };
  std::map<uint32_t, Trace> traces;
  struct Thread {
    uint64_t object;
    uint32_t trace;
    std::string name, group, parent_group;
    bool ended;
  };
  std::map<uint32_t, Thread> threads;

  struct Samples {
    uint32_t total;
    std::vector<std::pair<uint32_t, uint32_t>> rows;  // count, trace
  };
  std::vector<Samples> samples;
  struct Site {
    uint32_t array, owner, trace, live_bytes, live_objects, allocated_bytes, allocated_objects;
  };
  struct Sites {
    uint32_t flags;
    float cutoff;
    uint32_t live_bytes, live_objects;
    uint64_t allocated_bytes, allocated_objects;
    std::vector<Site> rows;
  };
  std::vector<Sites> sites;
  struct Summary {
    uint32_t live_bytes, live_objects;
    uint64_t allocated_bytes, allocated_objects;
  };
  std::vector<Summary> summaries;
  uint32_t settings = 0, depth = 0;

  struct Root {
    uint32_t kind;
    uint64_t object, reference;
    uint32_t thread, trace;
    int32_t frame;
  };
  std::vector<Root> roots;
  struct Value {
    std::string name;
    uint32_t index, type;
    uint64_t bits;
  };
  struct ClassDump {
    uint64_t super, loader, signers, domain;
    uint32_t trace, instance_size;
    std::vector<Value> constants, statics, fields;
  };
  std::map<uint64_t, ClassDump> class_dumps;
  struct Object {
    uint32_t sub_tag, trace, length, type;
    uint64_t class_object;
    std::string bytes;  // of the fields or elements
  };
  std::map<uint64_t, Object> objects;

  std::vector<uint64_t> segments;  // their lengths
  uint32_t dumps = 0;              // complete ones
  bool cut_short = false;          // the last record lacks bytes
  std::string error;               // empty: a good file
};

// tolerate_cut: a file whose last record is incomplete is good so far (the process was killed).
BinaryFile read_binary(const std::string& bytes, bool tolerate_cut = false);

}  // namespace hprof
