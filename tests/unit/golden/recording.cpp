// One session with every kind of record.
#include "tests/unit/golden/recording.h"

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/names.hpp>

namespace hprof {

namespace {

constexpr uint64_t kMs = 1000000;

// A record of type T with its head filled in.
template <typename T>
T make(uint32_t kind) {
  T record = {};
  record.head.size = sizeof(T);
  record.head.kind = kind;
  return record;
}

constexpr hprof_column kColumns[] = {
    {"pause_us", nullptr, HPROF_COLUMN_COUNT, 0, "microseconds", nullptr},
    {"drift", nullptr, HPROF_COLUMN_INT, 0, nullptr, nullptr},
    {"load", nullptr, HPROF_COLUMN_REAL, 0, nullptr, nullptr},
    {"cause", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, nullptr},
    {"at", nullptr, HPROF_COLUMN_TRACE, 0, nullptr, nullptr},
    {"by", nullptr, HPROF_COLUMN_THREAD, 0, nullptr, nullptr},
};
constexpr hprof_table_schema kSchema = {
    sizeof(hprof_table_schema), 6, sizeof(hprof_column), 0, "com.acme.gc_pauses/1", "GC PAUSES", kColumns};

}  // namespace

Recording::Recording() {
  object_class = host.add_class("java.lang.Object", "Ljava/lang/Object;", "Object.java", 0x101);
  string_class = host.add_class("java.lang.String", "Ljava/lang/String;", "String.java", 0x102);
  node_class = host.add_class("demo.List$Node", "Ldemo/List$Node;", "List.java", 0x103);
  node_array_class = host.add_class("demo.List$Node[]", "[Ldemo/List$Node;", "", 0x104);
  int_array_class = host.add_class("int[]", "[I", "", 0x105);
  byte_array_class = host.add_class("byte[]", "[B", "", 0x106);
  // A blank, a line end, a line separator of Unicode, a NUL as the VM writes it, an emoji in two surrogates,
  // an umlaut and a byte that is no UTF-8 at all.
  hostile_class = host.add_class("my pkg.Bad\nName\xe2\x80\xa8x\xc0\x80y\xed\xa0\xbd\xed\xb8\x80\xc3\xa4\xff",
                                 "Lmy pkg/Bad;", "a b.java");
  run_method = host.add_method(node_class, "run", "(I)Ljava/lang/String;");
  native_method = host.add_method(object_class, "wait", "(J)V");
  hostile_method = host.add_method(hostile_class, "do it", "()V");
  const auto init = host.add_method(node_class, "<init>", "()V");
  const auto run_frame = host.add_frame(run_method, 12);
  plain_trace = host.add_trace({host.add_frame(init, 7), run_frame});
  native_trace = host.add_trace({host.add_frame(native_method, HPROF_LINE_NATIVE), run_frame});
  hostile_trace =
      host.add_trace({host.add_frame(hostile_method, HPROF_LINE_NONE), host.add_frame(run_method, 13),
                      host.add_frame(run_method, HPROF_LINE_UNKNOWN)});
  main_thread = host.add_thread("main", "main", "system", 0x201);
  quoted_thread = host.add_thread("say \"hi\" \\ bye\n", "my group", "main", 0x202, plain_trace);
  thread_trace = host.add_trace({run_frame}, main_thread);
  empty_trace = host.add_trace({});
  // Known before the definitions are played, as everything that a record names is.
  for (const char* text :
       {"SHARED", "none", "COUNT", "LONG", "FLAG", "CHAR", "SHORT", "BYTE", "FLOAT", "DOUBLE", "next", "i",
        "longname", "nothing", "(JUC lock)", "G1 Evacuation Pause"}) {
    host.string(text);
  }
}

void Recording::emit(const Player& player, hprof_record* record) {
  record->time_us = now_us_;
  now_us_ += 1000;
  player(record);
}

void Recording::define(const Player& player, uint32_t kind, uint32_t first, uint32_t last) {
  for (uint32_t id = first; id <= last; id++) {
    auto record = make<hprof_rec_definition>(kind);
    record.id = id;
    emit(player, &record.head);
  }
}

void Recording::play(const Player& player) {
  now_us_ = 0;
  auto begin = make<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
  begin.created_ms = created_ms;
  begin.id_size = 8;
  begin.heap_dump = 1;
  emit(player, &begin.head);
  auto settings = make<hprof_rec_control_settings>(HPROF_RECORD_CONTROL_SETTINGS);
  settings.alloc_traces = settings.cpu_sampling = 1;
  settings.depth = 4;
  emit(player, &settings.head);
  play_definitions(player);
  play_session(player);
  play_report(player, HPROF_RECORD_REPORT_BEGIN);
  play_cpu(player);
  play_sites(player);
  play_monitors(player);
  play_vendor(player);
  play_report(player, HPROF_RECORD_REPORT_END);
  play_heap(player);
  define(player, HPROF_RECORD_CLASS_UNLOAD, hostile_class, hostile_class);
  define(player, HPROF_RECORD_THREAD_END, quoted_thread, quoted_thread);
  auto end = make<hprof_rec_definition>(HPROF_RECORD_FILE_END);
  emit(player, &end.head);
}

void Recording::play_report(const Player& player, uint32_t kind) {
  const hprof_report_info info = {sizeof info,
                                  1,
                                  HPROF_REPORT_REQUEST,
                                  1,
                                  1700000000000 * kMs,
                                  1700000012000 * kMs,
                                  5,
                                  12 * 1000 * kMs + 5,
                                  "cpu_samples",
                                  "service:shop",
                                  "",
                                  "",
                                  "",
                                  ""};
  auto record = make<hprof_rec_report>(kind);
  record.head.time_us = now_us_;
  record.info = &info;
  player(&record.head);
}

void Recording::play_definitions(const Player& player) {
  const auto* ids = mock_ids_service();
  uint32_t strings = 0, frames = 0;
  while (ids->string_text(host.host(), strings + 1).data != nullptr) strings++;
  while (find_frame(ids, host.host(), frames + 1)) frames++;
  define(player, HPROF_RECORD_STRING, 1, strings);
  define(player, HPROF_RECORD_CLASS, 1, hostile_class);
  define(player, HPROF_RECORD_FRAME, 1, frames);
  define(player, HPROF_RECORD_TRACE, 1, empty_trace);
  define(player, HPROF_RECORD_TRACE, 0, 0);
}

void Recording::play_session(const Player& player) {
  define(player, HPROF_RECORD_THREAD_START, main_thread, quoted_thread);
  auto note = make<hprof_rec_note>(HPROF_RECORD_NOTE);
  const std::string text = "3 samples: the buffer was full\nTRACE 1: \xc3\xa4";
  note.text = {text.data(), text.size()};
  emit(player, &note.head);
}

void Recording::play_cpu(const Player& player) {
  const hprof_cpu_row rows[] = {{20, 0, plain_trace},
                                {10, 0, native_trace},
                                {1, 0, hostile_trace},
                                {1, 0, empty_trace},
                                {123456789012, 0, thread_trace}};
  hprof_cpu_row total = {32, 0, 0};
  hprof_rec_table samples = table_of(kCpuSamples, rows, 4);
  samples.totals = cells_of(&total);
  samples.order = HPROF_CPU_COUNT;
  emit(player, &samples.head);
  total.count = UINT64_MAX;
  samples.row_count = 5;
  emit(player, &samples.head);
  total.count = samples.row_count = 0;
  samples.rows = nullptr;
  emit(player, &samples.head);
  const hprof_cpu_row costs[] = {{21891, 1500 * kMs, plain_trace}, {3, 500 * kMs, native_trace}};
  const hprof_cpu_row cost = {21894, 2000 * kMs + 999999, 0};
  hprof_rec_table times = table_of(kCpuTimes, costs, 2);
  times.totals = cells_of(&cost);
  times.order = HPROF_CPU_TIME;
  emit(player, &times.head);
}

void Recording::play_old(const Player& player) {
  now_us_ = 0;
  auto begin = make<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
  begin.id_size = 4;
  begin.alone = HPROF_TABLE_CPU_OLD;
  emit(player, &begin.head);
  const hprof_call_row rows[] = {{21890, 508 * kMs, run_method, run_method},
                                 {1, 999999, hostile_method, run_method},
                                 {7, 3 * kMs, 0, native_method},
                                 {7, 3 * kMs, native_method, 0}};
  hprof_rec_table old = table_of(kCpuOld, rows, 4);
  emit(player, &old.head);
}

void Recording::play_sites(const Player& player) {
  const hprof_site_row rows[] = {{node_class, plain_trace, 48000, 1000, 96000, 2000},
                                 {int_array_class, native_trace, 1024, 2, 1024, 2},
                                 {node_array_class, hostile_trace, 16, 1, 5000000000, 3000000000},
                                 {hostile_class, 0, 0, 0, 0, 0}};
  const hprof_site_row totals = {0, 0, 49040, 1003, 5000097024, 3000002002};
  hprof_rec_table sites = table_of(kAllocSites, rows, 4);
  sites.totals = cells_of(&totals);
  sites.order = HPROF_SITE_LIVE_BYTES;
  sites.cutoff = 0.0001;
  emit(player, &sites.head);
  sites.order = HPROF_SITE_ALLOCATED_BYTES;
  sites.flags = HPROF_TABLE_COLLECTED;
  sites.row_count = 1;
  emit(player, &sites.head);
  const hprof_heap_summary_row sum = {49040, 1003, 5000097024, 3000002002};
  hprof_rec_table summary = table_of(kHeapSummary, &sum, 1);
  emit(player, &summary.head);
}

void Recording::play_monitors(const Player& player) {
  const hprof_monitor_row rows[] = {{15, 300 * kMs, plain_trace, object_class, 0},
                                    {1, 100 * kMs, native_trace, node_class, host.string("(JUC lock)")}};
  hprof_rec_table contention = table_of(kMonitorTime, rows, 2);
  contention.order = HPROF_MONITOR_TIME;
  emit(player, &contention.head);
  for (uint32_t kind : {HPROF_RECORD_MONITOR_WAIT, HPROF_RECORD_MONITOR_WAITED}) {
    auto event = make<hprof_rec_monitor_event>(kind);
    event.monitor = object_class;
    event.thread = main_thread;
    event.time_ms = 30;
    emit(player, &event.head);
  }
  const hprof_dump_thread threads[] = {
      {main_thread, plain_trace, HPROF_STATE_WAITING, HPROF_STATE_SUSPENDED | HPROF_STATE_INTERRUPTED},
      {quoted_thread, 0, HPROF_STATE_RUNNABLE, 0}};
  const hprof_thread_serial entering[] = {quoted_thread, 0}, notified[] = {main_thread};
  const hprof_dump_monitor monitors[] = {{object_class, main_thread, 2, 2, 1, 0, entering, notified},
                                         {node_class, 0, 0, 0, 0, 0, nullptr, nullptr},
                                         {0, HPROF_OWNER_UNKNOWN, 1, 0, 0, 0, nullptr, nullptr}};
  auto dump = make<hprof_rec_monitor_dump>(HPROF_RECORD_MONITOR_DUMP);
  dump.thread_count = 2;
  dump.threads = threads;
  dump.monitor_count = 3;
  dump.monitors = monitors;
  dump.thread_stride = sizeof(hprof_dump_thread);
  dump.monitor_stride = sizeof(hprof_dump_monitor);
  emit(player, &dump.head);
}

void Recording::play_vendor(const Player& player) {
  hprof_cell cells[6] = {};
  cells[0].u = UINT64_MAX;
  cells[1].i = INT64_MIN;
  cells[2].r = 0.25;
  cells[3].u = host.string("G1 Evacuation Pause");
  cells[4].u = plain_trace;
  cells[5].u = main_thread;
  struct Row {
    hprof_cell cells[6];
  };
  hprof_rec_table table = table_of(kSchema, reinterpret_cast<const Row*>(cells), 1);
  emit(player, &table.head);
}

void Recording::play_heap(const Player& player) {
  auto begin = make<hprof_rec_heap_dump>(HPROF_RECORD_HEAP_DUMP_BEGIN);
  begin.objects = 9;
  begin.bytes = 4096;
  emit(player, &begin.head);
  play_roots(player);
  play_classes(player);
  play_objects(player);
  begin.head.kind = HPROF_RECORD_HEAP_DUMP_END;
  emit(player, &begin.head);
}

void Recording::play_roots(const Player& player) {
  for (uint32_t kind : {HPROF_ROOT_THREAD_OBJECT, HPROF_ROOT_JNI_GLOBAL, HPROF_ROOT_JNI_LOCAL,
                        HPROF_ROOT_JAVA_FRAME, HPROF_ROOT_NATIVE_STACK, HPROF_ROOT_STICKY_CLASS,
                        HPROF_ROOT_THREAD_BLOCK, HPROF_ROOT_MONITOR_USED, HPROF_ROOT_UNKNOWN}) {
    auto root = make<hprof_rec_heap_root>(HPROF_RECORD_HEAP_ROOT);
    root.root = kind;
    root.object = kind == HPROF_ROOT_STICKY_CLASS ? 0x101 : 0x201;
    root.thread = main_thread;
    root.reference = 0x7f0012345678;
    root.frame = kind == HPROF_ROOT_JAVA_FRAME ? 1 : -1;
    root.trace = thread_trace;
    root.owner = object_class;
    emit(player, &root.head);
  }
}

void Recording::play_classes(const Player& player) {
  const auto name = [&](const char* text) { return host.string(text); };
  const hprof_value constants[] = {{0, 19, HPROF_TYPE_OBJECT, 0, 0x301},
                                   {0, 20, HPROF_TYPE_INT, 0, 0xffffffff}};
  const hprof_value statics[] = {{name("SHARED"), 0, HPROF_TYPE_OBJECT, 0, 0x301},
                                 {name("none"), 0, HPROF_TYPE_OBJECT, 0, 0},
                                 {name("COUNT"), 0, HPROF_TYPE_INT, 0, 42},
                                 {name("LONG"), 0, HPROF_TYPE_LONG, 0, 0x1122334455667788},
                                 {name("FLAG"), 0, HPROF_TYPE_BOOLEAN, 0, 1},
                                 {name("CHAR"), 0, HPROF_TYPE_CHAR, 0, 0x263a},
                                 {name("SHORT"), 0, HPROF_TYPE_SHORT, 0, 0xfffe},
                                 {name("BYTE"), 0, HPROF_TYPE_BYTE, 0, 0x80},
                                 {name("FLOAT"), 0, HPROF_TYPE_FLOAT, 0, 0x3f800000},
                                 {name("DOUBLE"), 0, HPROF_TYPE_DOUBLE, 0, 0x3ff0000000000000}};
  const hprof_value fields[] = {{name("next"), 0, HPROF_TYPE_OBJECT, 0, 0},
                                {name("i"), 0, HPROF_TYPE_INT, 0, 0}};
  auto base = make<hprof_rec_heap_class>(HPROF_RECORD_HEAP_CLASS);
  base.owner = object_class;
  base.object = 0x101;
  emit(player, &base.head);
  auto node = make<hprof_rec_heap_class>(HPROF_RECORD_HEAP_CLASS);
  node.owner = node_class;
  node.trace = plain_trace;
  node.object = 0x103;
  node.super = 0x101;
  node.loader = 0x401;
  node.signers = 0x402;
  node.domain = 0x403;
  node.instance_size = 12;
  node.constant_count = 2;
  node.static_count = 10;
  node.field_count = 2;
  node.constants = constants;
  node.statics = statics;
  node.fields = fields;
  emit(player, &node.head);
}

void Recording::play_objects(const Player& player) {
  const hprof_value fields[] = {{host.string("next"), 0, HPROF_TYPE_OBJECT, 0, 0x302},
                                {host.string("i"), 0, HPROF_TYPE_INT, 0, 7},
                                {host.string("longname"), 0, HPROF_TYPE_OBJECT, 0, 0x303},
                                {host.string("nothing"), 0, HPROF_TYPE_OBJECT, 0, 0}};
  const uint8_t bytes[] = {0, 0, 0, 0, 0, 0, 3, 2, 0, 0, 0, 7};
  auto instance = make<hprof_rec_heap_instance>(HPROF_RECORD_HEAP_INSTANCE);
  instance.object = 0x301;
  instance.class_object = 0x103;
  instance.owner = node_class;
  instance.trace = plain_trace;
  instance.heap_bytes = 24;
  instance.field_count = 4;
  instance.bytes_size = sizeof bytes;
  instance.fields = fields;
  instance.bytes = bytes;
  emit(player, &instance.head);
  instance.object = 0x302;
  instance.fields = nullptr;
  instance.bytes = nullptr;
  emit(player, &instance.head);

  const uint64_t elements[] = {0x301, 0, 0x302};
  auto array = make<hprof_rec_heap_array>(HPROF_RECORD_HEAP_OBJECT_ARRAY);
  array.object = 0x303;
  array.class_object = 0x104;
  array.owner = node_array_class;
  array.trace = plain_trace;
  array.heap_bytes = 32;
  array.length = 3;
  array.type = HPROF_TYPE_OBJECT;
  array.elements = elements;
  emit(player, &array.head);
  const int32_t numbers[] = {1, -2, 0x01020304};
  array.head.kind = HPROF_RECORD_HEAP_PRIMITIVE_ARRAY;
  array.object = 0x304;
  array.class_object = 0x105;
  array.owner = int_array_class;
  array.type = HPROF_TYPE_INT;
  array.elements = numbers;
  emit(player, &array.head);
  array.object = 0x305;
  array.elements = nullptr;
  emit(player, &array.head);
  array.object = 0x306;
  array.class_object = 0x106;
  array.owner = byte_array_class;
  array.type = HPROF_TYPE_BYTE;
  array.length = 0;
  emit(player, &array.head);
}

}  // namespace hprof
