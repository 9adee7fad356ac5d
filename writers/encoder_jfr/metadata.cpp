#include "metadata.h"

#include <initializer_list>

#include <hprof/cpp/text.hpp>

namespace hprof::jfr {

namespace {

constexpr uint32_t kMetadataEvent = 0, kMetadataId = 1;
constexpr uint64_t kMost = 64 * 1024;  // bytes of its strings, and of its tree
constexpr char kAnnotation[] = "java.lang.annotation.Annotation", kEvent[] = "jdk.jfr.Event";

// How a field's value is to be read.
enum Meaning : uint32_t {
  kPlain,
  kTicks,
  kTickSpan,
  kNanoseconds,
  kMilliseconds,
  kEpochMilliseconds,
  kBytes,
  kAddress,
  kShare,
  kOfContext
};
struct Annotation {
  Type type;
  const char* value;  // null: none
};
constexpr Annotation kMeanings[] = {
    {},
    {kTimestamp, "TICKS"},
    {kTimespan, "TICKS"},
    {kTimespan, "NANOSECONDS"},
    {kTimespan, "MILLISECONDS"},
    {kTimestamp, "MILLISECONDS_SINCE_EPOCH"},
    {kDataAmount, "BYTES"},
    {kMemoryAddress, nullptr},
    {kPercentage, nullptr},
    {kContextual, nullptr},
};

struct Field {
  const char* name;
  Type type;
  Meaning meaning;
};

constexpr uint32_t kFieldsMost = 10;
// Fields are in the order of the JDK's own types, since some readers go by position.
struct Class {
  Type type;
  const char* name;
  const char* super;
  Field fields[kFieldsMost];
  const char* label = nullptr;
  const char* categories[2] = {};
};

constexpr Field kStart = {"startTime", kLong, kTicks}, kDuration = {"duration", kLong, kTickSpan};
constexpr Field kEventThread = {"eventThread", kThread, kPlain};
constexpr Field kSampledThread = {"sampledThread", kThread, kPlain};
constexpr Field kStack = {"stackTrace", kStackTrace, kPlain};
constexpr Field kState = {"state", kThreadState, kPlain};
constexpr Field kName = {"name", kString, kPlain}, kValue = {"value", kString, kPlain};
constexpr Field kAddressOf = {"address", kLong, kAddress};
constexpr Field kAnyThread = {"thread", kThread, kPlain}, kGcId = {"gcId", kInt, kPlain};
constexpr Field kMonitorClass = {"monitorClass", kClass, kPlain};
constexpr Field kPath = {"path", kString, kPlain}, kHost = {"host", kString, kPlain};
constexpr Field kAddressText = {"address", kString, kPlain}, kPort = {"port", kInt, kPlain};
constexpr Field kBytesRead = {"bytesRead", kLong, kBytes}, kBytesWritten = {"bytesWritten", kLong, kBytes};

constexpr Class kClasses[] = {
    {kBoolean, "boolean", nullptr, {}},
    {kByte, "byte", nullptr, {}},
    {kInt, "int", nullptr, {}},
    {kLong, "long", nullptr, {}},
    {kFloat, "float", nullptr, {}},
    {kString, "java.lang.String", nullptr, {}},
    {kClass,
     "java.lang.Class",
     nullptr,
     {{"classLoader", kClassLoader, kPlain},
      {"name", kSymbol, kPlain},
      {"package", kPackage, kPlain},
      {"modifiers", kInt, kPlain},
      {"hidden", kBoolean, kPlain}}},
    {kThread,
     "java.lang.Thread",
     nullptr,
     {{"osName", kString, kPlain},
      {"osThreadId", kLong, kPlain},
      {"javaName", kString, kPlain},
      {"javaThreadId", kLong, kPlain},
      {"group", kThreadGroup, kPlain},
      {"virtual", kBoolean, kPlain}}},
    {kThreadGroup, "jdk.types.ThreadGroup", nullptr, {{"parent", kThreadGroup, kPlain}, kName}},
    {kClassLoader, "jdk.types.ClassLoader", nullptr, {{"type", kClass, kPlain}, {"name", kSymbol, kPlain}}},
    {kPackage,
     "jdk.types.Package",
     nullptr,
     {{"name", kSymbol, kPlain}, {"module", kModule, kPlain}, {"exported", kBoolean, kPlain}}},
    {kModule,
     "jdk.types.Module",
     nullptr,
     {{"name", kSymbol, kPlain},
      {"version", kSymbol, kPlain},
      {"location", kSymbol, kPlain},
      {"classLoader", kClassLoader, kPlain}}},
    {kSymbol, "jdk.types.Symbol", nullptr, {{"string", kString, kPlain}}},
    {kFrameType, "jdk.types.FrameType", nullptr, {{"description", kString, kPlain}}},
    {kThreadState, "jdk.types.ThreadState", nullptr, {kName}},
    {kGcWhen, "jdk.types.GCWhen", nullptr, {{"when", kString, kPlain}}},
    {kMethod,
     "jdk.types.Method",
     nullptr,
     {{"type", kClass, kPlain},
      {"name", kSymbol, kPlain},
      {"descriptor", kSymbol, kPlain},
      {"modifiers", kInt, kPlain},
      {"hidden", kBoolean, kPlain}}},
    {kStackFrame,
     "jdk.types.StackFrame",
     nullptr,
     {{"method", kMethod, kPlain},
      {"lineNumber", kInt, kPlain},
      {"bytecodeIndex", kInt, kPlain},
      {"type", kFrameType, kPlain}}},
    {kStackTrace,
     "jdk.types.StackTrace",
     nullptr,
     {{"truncated", kBoolean, kPlain}, {"frames", kStackFrame, kPlain}}},
    {kLabel, "jdk.jfr.Label", kAnnotation, {kValue}},
    {kCategory, "jdk.jfr.Category", kAnnotation, {kValue}},
    {kTimestamp, "jdk.jfr.Timestamp", kAnnotation, {kValue}},
    {kTimespan, "jdk.jfr.Timespan", kAnnotation, {kValue}},
    {kDataAmount, "jdk.jfr.DataAmount", kAnnotation, {kValue}},
    {kMemoryAddress, "jdk.jfr.MemoryAddress", kAnnotation, {}},
    {kPercentage, "jdk.jfr.Percentage", kAnnotation, {}},
    {kContextual, "jdk.jfr.Contextual", kAnnotation, {}},
    {kContentType, "jdk.jfr.ContentType", kAnnotation, {}},
    {kVirtualSpace,
     "jdk.types.VirtualSpace",
     nullptr,
     {{"start", kLong, kAddress},
      {"committedEnd", kLong, kAddress},
      {"committedSize", kLong, kBytes},
      {"reservedEnd", kLong, kAddress},
      {"reservedSize", kLong, kBytes}}},
    {kExecutionSample,
     "jdk.ExecutionSample",
     kEvent,
     {kStart, kSampledThread, kStack, kState},
     "Method Profiling Sample",
     {"Java Virtual Machine", "Profiling"}},
    {kWallClockSample,
     "profiler.WallClockSample",
     kEvent,
     {kStart, kSampledThread, kStack, kState, {"samples", kInt, kPlain}},
     "Wall Clock Sample",
     {"Java Virtual Machine", "Profiling"}},
    {kAllocationSample,
     "jdk.ObjectAllocationSample",
     kEvent,
     {kStart, kEventThread, kStack, {"objectClass", kClass, kPlain}, {"weight", kLong, kBytes}},
     "Object Allocation Sample",
     {"Java Application"}},
    {kMonitorEnter,
     "jdk.JavaMonitorEnter",
     kEvent,
     {kStart, kDuration, kEventThread, kStack, kMonitorClass, {"previousOwner", kThread, kPlain}, kAddressOf},
     "Java Monitor Blocked",
     {"Java Application"}},
    {kMonitorWait,
     "jdk.JavaMonitorWait",
     kEvent,
     {kStart,
      kDuration,
      kEventThread,
      kStack,
      kMonitorClass,
      {"notifier", kThread, kPlain},
      {"timeout", kLong, kTickSpan},
      {"timedOut", kBoolean, kPlain},
      kAddressOf},
     "Java Monitor Wait",
     {"Java Application"}},
    {kThreadPark,
     "jdk.ThreadPark",
     kEvent,
     {kStart,
      kDuration,
      kEventThread,
      kStack,
      {"parkedClass", kClass, kPlain},
      {"timeout", kLong, kNanoseconds},
      {"until", kLong, kEpochMilliseconds},
      kAddressOf},
     "Java Thread Park",
     {"Java Application"}},
    {kFileRead,
     "jdk.FileRead",
     kEvent,
     {kStart, kDuration, kEventThread, kStack, kPath, kBytesRead, {"endOfFile", kBoolean, kPlain}},
     "File Read",
     {"Java Application"}},
    {kFileWrite,
     "jdk.FileWrite",
     kEvent,
     {kStart, kDuration, kEventThread, kStack, kPath, kBytesWritten},
     "File Write",
     {"Java Application"}},
    {kSocketRead,
     "jdk.SocketRead",
     kEvent,
     {kStart,
      kDuration,
      kEventThread,
      kStack,
      kHost,
      kAddressText,
      kPort,
      {"timeout", kLong, kMilliseconds},
      kBytesRead,
      {"endOfStream", kBoolean, kPlain}},
     "Socket Read",
     {"Java Application"}},
    {kSocketWrite,
     "jdk.SocketWrite",
     kEvent,
     {kStart, kDuration, kEventThread, kStack, kHost, kAddressText, kPort, kBytesWritten},
     "Socket Write",
     {"Java Application"}},
    {kSlowCall, "hprof.SlowCall", kEvent, {kStart, kDuration, kEventThread, kStack}, "Slow Call", {"hprof"}},
    // What the thread of another event, which ends at this one's start, works for.
    {kRequest,
     "hprof.Request",
     kEvent,
     {kStart,
      kDuration,
      kEventThread,
      {"traceId", kString, kOfContext},
      {"spanId", kString, kOfContext},
      {"labels", kString, kOfContext}},
     "Request",
     {"hprof"}},
    {kThreadStart,
     "jdk.ThreadStart",
     kEvent,
     {kStart, kEventThread, kStack, kAnyThread, {"parentThread", kThread, kPlain}},
     "Java Thread Start",
     {"Java Application"}},
    {kThreadEnd,
     "jdk.ThreadEnd",
     kEvent,
     {kStart, kEventThread, kAnyThread},
     "Java Thread End",
     {"Java Application"}},
    {kThreadStatistics,
     "jdk.JavaThreadStatistics",
     kEvent,
     {kStart,
      {"activeCount", kLong, kPlain},
      {"daemonCount", kLong, kPlain},
      {"accumulatedCount", kLong, kPlain},
      {"peakCount", kLong, kPlain}},
     "Java Thread Statistics",
     {"Java Application", "Statistics"}},
    {kGarbageCollection,
     "jdk.GarbageCollection",
     kEvent,
     {kStart,
      kDuration,
      kGcId,
      kName,
      {"cause", kString, kPlain},
      {"sumOfPauses", kLong, kTickSpan},
      {"longestPause", kLong, kTickSpan}},
     "Garbage Collection",
     {"Java Virtual Machine", "GC"}},
    {kGcPause,
     "jdk.GCPhasePause",
     kEvent,
     {kStart, kDuration, kEventThread, kGcId, kName},
     "GC Phase Pause",
     {"Java Virtual Machine", "GC"}},
    {kHeapSummary,
     "jdk.GCHeapSummary",
     kEvent,
     {kStart,
      kGcId,
      {"when", kGcWhen, kPlain},
      {"heapSpace", kVirtualSpace, kPlain},
      {"heapUsed", kLong, kBytes}},
     "Heap Summary",
     {"Java Virtual Machine", "GC"}},
    {kCpuLoad,
     "jdk.CPULoad",
     kEvent,
     {kStart, {"jvmUser", kFloat, kShare}, {"jvmSystem", kFloat, kShare}, {"machineTotal", kFloat, kShare}},
     "CPU Load",
     {"Operating System", "Processor"}},
    {kCpuInformation,
     "jdk.CPUInformation",
     kEvent,
     {kStart,
      {"cpu", kString, kPlain},
      {"description", kString, kPlain},
      {"sockets", kInt, kPlain},
      {"cores", kInt, kPlain},
      {"hwThreads", kInt, kPlain}},
     "CPU Information",
     {"Operating System", "Processor"}},
    {kActiveSetting,
     "jdk.ActiveSetting",
     kEvent,
     {kStart, {"id", kLong, kPlain}, kName, kValue},
     "Recording Setting",
     {"Flight Recorder"}},
    {kJvmInformation,
     "jdk.JVMInformation",
     kEvent,
     {kStart,
      {"jvmName", kString, kPlain},
      {"jvmVersion", kString, kPlain},
      {"jvmArguments", kString, kPlain},
      {"jvmFlags", kString, kPlain},
      {"javaArguments", kString, kPlain},
      {"jvmStartTime", kLong, kEpochMilliseconds},
      {"pid", kLong, kPlain}},
     "JVM Information",
     {"Java Virtual Machine"}},
    {kShutdown,
     "jdk.Shutdown",
     kEvent,
     {kStart, kEventThread, kStack, {"reason", kString, kPlain}},
     "JVM Shutdown",
     {"Java Virtual Machine"}},
    {kNote, "hprof.Note", kEvent, {kStart, {"text", kString, kPlain}}, "Note", {"hprof"}},
};
static_assert(sizeof kClasses / sizeof kClasses[0] == kTypeCount, "a class for each type");

// Values that events refer to by number.
bool is_in_pool(Type type) { return type >= kClass && type <= kStackTrace && type != kStackFrame; }
// Annotations that say how to print a value.
bool is_content_type(Type type) { return type >= kTimestamp && type <= kPercentage; }
bool is_simple(Type type) { return type >= kSymbol && type <= kGcWhen; }
bool is_array(Type of, const Field& field) {
  return of == kCategory || (of == kStackTrace && field.type == kStackFrame);
}

uint32_t field_count(const Class& type) {
  uint32_t count = 0;
  while (count < kFieldsMost && type.fields[count].name != nullptr) count++;
  return count;
}

}  // namespace

// Writes elements of the tree: a name, attributes, and then as many elements as it was said to contain.
class Metadata::Tree {
 public:
  Tree(Metadata& metadata) : metadata_(metadata), out_(metadata.tree_.end()) {}

  void build();
  bool keep() {
    if (!out_.ok()) return false;
    metadata_.tree_.keep();
    metadata_.string_count_ = count_;
    return true;
  }

 private:
  struct Attribute {
    const char* key;
    const char* value;  // null: there is no such attribute
  };
  static constexpr uint32_t kStringsMost = 256;

  void string(const char* text);
  void begin(const char* name, std::initializer_list<Attribute> attributes, uint32_t children);
  void annotation(Type type, const char* value, const char* second = nullptr);
  void field(Type of, const Field& field);
  void describe(const Class& type);
  const char* number(Type type);

  Metadata& metadata_;
  JfrOut out_;
  const char* strings_[kStringsMost];
  char numbers_[kTypeCount][4] = {};
  uint32_t count_ = 0;
};

// Writes the number of a string, which is added if it is new.
void Metadata::Tree::string(const char* text) {
  uint32_t i = 0;
  while (i < count_ && std::strcmp(strings_[i], text) != 0) i++;
  if (i == count_) {
    if (count_ == kStringsMost) return out_.fail(HPROF_NO_MEMORY);
    JfrOut strings(metadata_.strings_.end());
    strings.words(text);
    if (!strings.ok()) return out_.fail(strings.status());
    metadata_.strings_.keep();
    strings_[count_++] = text;
  }
  out_.varint(i);
}

const char* Metadata::Tree::number(Type type) {
  char(&text)[4] = numbers_[type - kFirstType];
  text[format_decimal(text, type)] = 0;
  return text;
}

void Metadata::Tree::begin(const char* name, std::initializer_list<Attribute> attributes, uint32_t children) {
  uint32_t present = 0;
  for (const Attribute& each : attributes) present += each.value != nullptr ? 1 : 0;
  string(name);
  out_.varint(present);
  for (const Attribute& each : attributes) {
    if (each.value == nullptr) continue;
    string(each.key);
    string(each.value);
  }
  out_.varint(children);
}

void Metadata::Tree::annotation(Type type, const char* value, const char* second) {
  const bool is_list = type == kCategory;
  begin("annotation", {{"class", number(type)}, {is_list ? "value-0" : "value", value}, {"value-1", second}},
        0);
}

void Metadata::Tree::field(Type of, const Field& field) {
  const Annotation& meaning = kMeanings[field.meaning];
  begin("field",
        {{"name", field.name},
         {"class", number(field.type)},
         {"constantPool", is_in_pool(field.type) ? "true" : nullptr},
         {"dimension", is_array(of, field) ? "1" : nullptr}},
        field.meaning != kPlain ? 1 : 0);
  if (field.meaning != kPlain) annotation(meaning.type, meaning.value);
}

void Metadata::Tree::describe(const Class& type) {
  const uint32_t fields = field_count(type);
  const bool is_event = type.label != nullptr;
  const bool has_more =
      metadata_.has_sample_threads_ && (type.type == kExecutionSample || type.type == kWallClockSample);
  begin("class",
        {{"id", number(type.type)},
         {"name", type.name},
         {"superType", type.super},
         {"simpleType", is_simple(type.type) ? "true" : nullptr}},
        fields + (has_more ? 1 : 0) + (is_event ? 2 : 0) + (is_content_type(type.type) ? 1 : 0));
  for (uint32_t i = 0; i < fields; i++) field(type.type, type.fields[i]);
  if (has_more) field(type.type, kEventThread);
  if (is_content_type(type.type)) annotation(kContentType, nullptr);
  if (!is_event) return;
  annotation(kLabel, type.label);
  annotation(kCategory, type.categories[0], type.categories[1]);
}

void Metadata::Tree::build() {
  begin("root", {}, 2);
  begin("metadata", {}, kTypeCount);
  for (const Class& type : kClasses) describe(type);
  begin("region", {{"locale", "en_US"}, {"gmtOffset", "0"}}, 0);
}

bool Metadata::open(const Services& services) {
  return strings_.open(services, kMost) && tree_.open(services, kMost) && build();
}

bool Metadata::build() {
  strings_.clear();
  tree_.clear();
  Tree tree(*this);
  tree.build();
  return tree.keep();
}

bool Metadata::add_sample_threads() {
  if (has_sample_threads_) return true;
  has_sample_threads_ = true;
  return build();
}

void Metadata::close() {
  strings_.close();
  tree_.close();
}

uint64_t Metadata::size(uint64_t ticks) const {
  return kSizeBytes + varint_size(kMetadataEvent) + varint_size(ticks) + varint_size(0) +
         varint_size(kMetadataId) + varint_size(string_count_) + strings_.size() + tree_.size();
}

void Metadata::write(JfrOut& out, uint64_t ticks) const {
  out.size(size(ticks));
  out.varint(kMetadataEvent);
  out.varint(ticks);
  out.varint(0);  // duration
  out.varint(kMetadataId);
  out.varint(string_count_);
  out.bytes(strings_.data(), strings_.size());
  out.bytes(tree_.data(), tree_.size());
}

}  // namespace hprof::jfr
