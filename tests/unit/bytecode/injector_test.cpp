// What the rewriter takes and leaves, and what no compiler makes. tests/lab/corpus/behaviour shows that what
// it makes verifies, behaves as before and counts right.
#include <doctest/doctest.h>
#include <string>

#include "class_builder.h"
#include "core/modules/bytecode/engine/bridge_classes.h"
#include "core/modules/bytecode/engine/class_rename.h"
#include "core/modules/bytecode/engine/opcodes.h"

using namespace hprof;
using namespace hprof::test;

namespace {

Method calling(ClassBuilder& builder) {
  uint16_t target = builder.method_ref("X", "x", "()V");
  Method method;
  method.code = {184, static_cast<uint8_t>(target >> 8), static_cast<uint8_t>(target), 177};
  return method;
}

Rewritten rewrite_one(const Method& method, uint32_t probes, uint16_t major = 52) {
  ClassBuilder builder("T", "java/lang/Object", major);
  builder.add(method);
  return Rewritten(builder.build(), probes_of(probes));
}

int32_t big_id(void*, const MethodSite&, uint32_t) { return 100000; }
uint32_t no_probes(void*, const MethodSite&, uint32_t, uint32_t) { return 0; }
bool no_class(void*, Span, uint16_t) { return false; }

}  // namespace

TEST_CASE("a loop, a throw, an allocation, a monitor and a synchronized method are no leaves") {
  for (const Bytes& code :
       {Bytes{0, 167, 0xff, 0xff}, Bytes{1, 191}, Bytes{3, 188, 10, 87, 177}, Bytes{1, 194, 177}}) {
    Method method;
    method.code = code;
    Rewritten r = rewrite_one(method, kProbesOfTimes & ~kProbeUnwind, 49);
    CHECK(r.result.counts.users[0].begun == 1);
    CHECK(r.result.counts.users[0].leaves == 0);
  }
  Method method;
  method.code = {177};
  CHECK(rewrite_one(method, kProbesOfTimes).result.counts.users[0].leaves == 1);
  method.access = 0x0028;
  CHECK(rewrite_one(method, kProbesOfTimes).result.counts.users[0].begun == 1);
}

TEST_CASE("ids that need a constant get one") {
  ClassBuilder builder;
  builder.add(calling(builder));
  ProbeSet probes = probes_of(kProbeBegin);
  probes.method_id = big_id;
  Rewritten r(builder.build(), probes);
  REQUIRE(r.has_code);
  CHECK(r.code.code.data[0] == 18);  // ldc
  uint32_t index = r.code.code.data[1];
  REQUIRE(r.view.pool.tag(index) == kTagInteger);
  CHECK(load_be32(r.bytes.data() + r.view.pool.offsets[index] + 1) == 100000);
}

TEST_CASE("a frame of an unknown kind leaves the method") {
  Method method;
  method.code = {0, 167, 0xff, 0xff};
  method.attributes.push_back({"StackMapTable", {0, 1, 246, 0, 0}});
  Rewritten r = rewrite_one(method, kProbeBegin);
  CHECK(r.result.reason == Reason::kUnchanged);
  CHECK(r.left(Reason::kUnknownFrame) == 1);
}

TEST_CASE("an unknown attribute of the code leaves the method") {
  Method method;
  method.code = {177};
  method.attributes.push_back({"Vendor", {1, 2, 3}});
  Rewritten r = rewrite_one(method, kProbeLeaf);
  CHECK(r.left(Reason::kUnknownAttribute) == 1);
}

TEST_CASE("jumps into the middle of an instruction and unknown instructions leave the method") {
  Method method;
  method.code = {167, 0, 4, 17, 0, 0, 87, 177};
  CHECK(rewrite_one(method, kProbeLeaf).left(Reason::kMalformedCode) == 1);
  method.code = {203, 177};
  CHECK(rewrite_one(method, kProbeLeaf).left(Reason::kUnknownOpcode) == 1);
  method.code = {17, 0};
  CHECK(rewrite_one(method, kProbeLeaf).left(Reason::kMalformedCode) == 1);
}

TEST_CASE("empty finalizers stay: the VM registers no object for them") {
  ClassBuilder builder("java/lang/Object", "");
  Method method = empty_constructor();
  builder.add(method);
  method.name = "finalize";
  builder.add(method);
  Rewritten r(builder.build(), probes_of(kProbeObjectInit | kProbesOfTimes));
  CHECK(r.result.counts.users[0].leaves == 1);
  CHECK(r.left(Reason::kEmptyFinalizer) == 1);
}

TEST_CASE("methods that change the current thread are not counted, their callers are") {
  Method method;
  method.code = {1, 191};
  method.attributes.clear();
  auto left = [&](const char* owner, const char* name) {
    ClassBuilder builder(owner);
    method.name = name;
    builder.add(method);
    return Rewritten(builder.build(), probes_of(kProbesOfTimes)).left(Reason::kChangesThread);
  };
  CHECK(left("java/lang/VirtualThread", "mount") == 1);
  CHECK(left("jdk/internal/vm/Continuation", "run") == 1);
  CHECK(left("java/lang/Thread", "mount") == 0);
}

TEST_CASE("line numbers and local variables move, the first line keeps the entry") {
  Method method;
  method.locals = 2;
  method.descriptor = "(I)V";
  method.code = {26, 60, 1, 191};
  method.attributes.push_back({"LineNumberTable", {0, 2, 0, 0, 0, 7, 0, 2, 0, 8}});
  method.attributes.push_back({"LocalVariableTable", {0, 2, 0, 0, 0, 4, 0, 1, 0, 1, 0, 0,  //
                                                      0, 2, 0, 2, 0, 1, 0, 1, 0, 1}});
  Rewritten r = rewrite_one(method, kProbeBegin);
  REQUIRE(r.has_code);
  CHECK(r.attribute(Word::kLineNumberTable) == Bytes{0, 2, 0, 0, 0, 7, 0, 7, 0, 8});
  CHECK(r.attribute(Word::kLocalVariableTable) ==
        Bytes{0, 2, 0, 0, 0, 9, 0, 1, 0, 1, 0, 0, 0, 7, 0, 2, 0, 1, 0, 1, 0, 1});
}

TEST_CASE("type annotations of the code move to the instruction itself") {
  Method method;
  method.code = {0, 187, 0, 2, 191};
  method.attributes.push_back({"RuntimeVisibleTypeAnnotations", {0, 1, 0x44, 0, 1, 0, 0, 1, 0, 0}});
  Rewritten r = rewrite_one(method, kProbeBegin);
  REQUIRE(r.has_code);
  CHECK(r.attribute(Word::kTypeAnnotations) == Bytes{0, 1, 0x44, 0, 6, 0, 0, 1, 0, 0});
  method.attributes[0].content[2] = 0x13;  // no target of code
  CHECK(rewrite_one(method, kProbeBegin).left(Reason::kMalformedTable) == 1);
}

TEST_CASE("code that would pass 64 KiB or the VM's own limit is left") {
  Method method;
  method.stack = 3;
  for (int i = 0; i < 13000; i++) append(method.code, {3, 188, 10, 87, 0});
  method.code.push_back(177);
  ClassBuilder builder;
  builder.add(method);
  CHECK(Rewritten(builder.build(), probes_of(kProbeArrays)).left(Reason::kMethodTooLarge) == 1);
  method.code.resize(7995);
  method.code.push_back(177);
  CHECK(rewrite_one(method, kProbeArrays).left(Reason::kMethodTooHuge) == 1);
}

TEST_CASE("of several users those get probes, in their order, whose probes fit beside the others") {
  Method method;
  method.stack = 3;
  for (int i = 0; i < 1400; i++) append(method.code, {3, 188, 10, 87});
  method.code.push_back(177);
  ClassBuilder builder;
  builder.add(method);
  ProbeSet probes = probes_of(kProbeBegin | kProbeEnd);  // few bytes
  probes.user_count = 3;
  probes.users[1] = probes_of(kProbeArrays).users[0];  // 4 bytes for each array
  probes.users[2] = probes.users[0];
  const Rewritten r(builder.build(), probes);
  const auto& users = r.result.counts.users;
  CHECK(users[0].begun == 1);
  CHECK(users[1].left[static_cast<uint32_t>(Reason::kMethodTooHuge)] == 1);
  CHECK(users[2].begun == 1);
  CHECK(users[0].left[static_cast<uint32_t>(Reason::kMethodTooHuge)] +
            users[2].left[static_cast<uint32_t>(Reason::kMethodTooHuge)] ==
        0);
  REQUIRE(r.has_code);
  CHECK(r.code.code.size < 8000);
}

TEST_CASE("a constructor that overwrites its object is left") {
  ClassBuilder builder("T", "S");
  uint16_t init = builder.method_ref("S", "<init>", "()V");
  Method method;
  method.name = "<init>";
  method.access = 1;
  method.locals = 1;
  method.code = {42, 183, 0, static_cast<uint8_t>(init), 177};
  builder.add(method);
  CHECK(Rewritten(builder.build(), probes_of(kProbesOfTimes)).result.counts.users[0].begun == 1);
  method.code[0] = 1;
  method.code.insert(method.code.begin(), {1, 75});  // local 0 is overwritten
  ClassBuilder odd("T", "S");
  odd.method_ref("S", "<init>", "()V");
  odd.add(method);
  CHECK(Rewritten(odd.build(), probes_of(kProbesOfTimes)).left(Reason::kConstructor) == 1);
}

TEST_CASE("each user of a method has a local variable of its own, and ends in the opposite order") {
  ClassBuilder builder;
  builder.add(calling(builder));
  ProbeSet probes = probes_of(kProbeBegin | kProbeEnd | kProbeUnwind);
  probes.users[1] = user_of(kProbeBegin | kProbeEnd, "Others");
  probes.user_count = 2;
  Rewritten r(builder.build(), probes);
  REQUIRE(r.has_code);
  CHECK(r.code.max_locals == 4);
  std::string code;
  for (uint32_t pc = 0; pc < r.code.code.size;
       pc += instruction_length(r.code.code.data, r.code.code.size, pc)) {
    const uint8_t* at = r.code.code.data + pc;
    MemberRef ref;
    if (*at == kOpInvokestatic && r.view.pool.member(load_be16(at + 1), &ref))
      code += std::string(reinterpret_cast<const char*>(ref.owner.data), 1) +
              std::string(reinterpret_cast<const char*>(ref.name.data), ref.name.size) + " ";
    if (*at == 63 || *at == 30) code += "0";  // lstore_0, lload_0
    if (*at == 65 || *at == 32) code += "2";
  }
  CHECK(code == "2Tbegin 0Obegin 2Xx 2Oend 0Tend 0Tunwind ");
  // What has begun is unwound if the other's begin() finds no stack left.
  REQUIRE(r.code.handler_count == 1);
  CHECK(r.code.code.data[load_be16(r.code.handlers) - 1] == 63);
  CHECK(r.attribute(Word::kStackMapTable) ==
        Bytes{0, 1, 255, 0, 24, 0, 2, 4, 4, 0, 1, 7, 0, r.attribute(Word::kStackMapTable).back()});
}

TEST_CASE("a user without probes in a method has its own reason, and the others have theirs") {
  ClassBuilder builder;
  Method leaf;
  leaf.code = {177};
  builder.add(leaf);
  ProbeSet probes = probes_of(kProbesOfTimes);
  probes.users[1] = user_of(kProbeBegin | kProbeEnd, "Others");
  probes.users[1].leaves_out_leaves = true;
  probes.users[2] = user_of(kProbeBegin, "Thirds");
  probes.user_count = 3;
  const auto& users = Rewritten(builder.build(), probes).result.counts.users;
  CHECK(users[0].leaves == 1);
  CHECK(users[1].begun == 0);
  CHECK(users[1].left[static_cast<uint32_t>(Reason::kCallsNothing)] == 1);
  CHECK(users[2].begun == 1);
}

TEST_CASE("methods that the JDK marks as intrinsics are left out where the user asks for it") {
  for (const char* type : {"Ljdk/internal/vm/annotation/IntrinsicCandidate;",
                           "Ljdk/internal/HotSpotIntrinsicCandidate;", "Ljava/lang/Deprecated;"}) {
    ClassBuilder builder("T", "java/lang/Object", 53);
    Method method;
    method.code = {177};
    const uint16_t other = builder.utf8("Lx/Other;"), name = builder.utf8("value"), mark = builder.utf8(type);
    const auto high = [](uint16_t index) { return static_cast<uint8_t>(index >> 8); };
    const auto low = [](uint16_t index) { return static_cast<uint8_t>(index); };
    // Another annotation with value = "Lx/Other;" comes first.
    method.annotations = {0,   2,           high(other), low(other), 0,         1, high(name), low(name),
                          's', high(other), low(other),  high(mark), low(mark), 0, 0};
    builder.add(method);
    ProbeSet probes = probes_of(kProbeLeaf);
    probes.users[1] = user_of(kProbeLeaf, "Others");
    probes.users[1].leaves_out_intrinsics = true;
    probes.user_count = 2;
    const auto& users = Rewritten(builder.build(), probes).result.counts.users;
    const bool is_left = std::string(type) != "Ljava/lang/Deprecated;";
    CHECK(users[0].leaves == 1);
    CHECK(users[1].leaves == (is_left ? 0 : 1));
    CHECK(users[1].left[static_cast<uint32_t>(Reason::kIntrinsic)] == (is_left ? 1 : 0));
  }
}

TEST_CASE("methods that are intrinsics of HotSpot 8, which does not mark them, are known by name") {
  const auto is_left = [](const char* owner, const char* name, uint16_t major, const char* type = "()V") {
    ClassBuilder builder(owner, "java/lang/Object", major);
    Method method;
    method.name = name;
    method.descriptor = type;
    method.access = 0x0009;
    method.locals = 8;
    method.code = {177};
    builder.add(method);
    ProbeSet probes = probes_of(kProbeLeaf);
    probes.users[0].leaves_out_intrinsics = true;
    return Rewritten(builder.build(), probes).result.counts.users[0].leaves == 0;
  };
  CHECK(is_left("java/lang/Math", "min", 52));
  CHECK(is_left("java/lang/StringBuilder", "toString", 52));
  CHECK(is_left("java/util/Arrays", "copyOf", 52));
  CHECK(!is_left("java/util/Arrays", "copy", 52));
  CHECK(!is_left("java/util/Arrays", "copyOfRanges", 52));
  CHECK(!is_left("java/lang/Math", "floorDiv", 52));
  CHECK(!is_left("x/Math", "min", 52));
  CHECK(!is_left("java/lang/Math", "min", 53));
  // What bodies of intrinsics call, in later JDKs.
  CHECK(is_left("java/lang/Byte", "toUnsignedInt", 53));
  CHECK(!is_left("java/lang/Byte", "toUnsignedInt", 52));
  CHECK(!is_left("java/lang/Byte", "toUnsigned", 53));
  CHECK(is_left("jdk/internal/util/ArraysSupport", "hashCode", 69, "(I[BII)V"));
  CHECK(!is_left("jdk/internal/util/ArraysSupport", "hashCode", 69, "([BIII)V"));
  CHECK(!is_left("jdk/internal/util/ArraysSupport", "hashCode", 69, "()V"));
  CHECK(is_left("sun/security/provider/SHA5", "lf_sigma1", 61));
}

TEST_CASE("methods without code are counted for the users that wanted their begin") {
  ClassBuilder builder;
  for (const uint16_t access : {uint16_t{0x0400}, uint16_t{0x0100}, uint16_t{0x0100}}) {
    Method method;
    method.access = access;
    builder.add(method);
  }
  ProbeSet probes = probes_of(kProbesOfTimes);
  probes.users[1] = user_of(kProbeArrays, "Others");
  probes.user_count = 2;
  const Rewritten r(builder.build(), probes);
  CHECK(r.result.reason == Reason::kUnchanged);
  CHECK(r.result.counts.methods == 0);
  const auto& users = r.result.counts.users;
  CHECK(users[0].left[static_cast<uint32_t>(Reason::kNative)] == 2);
  CHECK(users[0].left[static_cast<uint32_t>(Reason::kAbstract)] == 1);
  CHECK(users[1].left[static_cast<uint32_t>(Reason::kNative)] == 0);
}

TEST_CASE("a constructor tells when super() has returned, unless that is Object's") {
  for (const char* super : {"S", "java/lang/Object"}) {
    CAPTURE(super);
    ClassBuilder builder("T", super);
    const uint16_t init = builder.method_ref(super, "<init>", "()V");
    Method method;
    method.name = "<init>";
    method.access = 1;
    method.locals = 1;
    //             0 aload_0  1 invokespecial  4 return
    method.code = {42, 183, 0, static_cast<uint8_t>(init), 177};
    builder.add(method);
    ProbeSet probes = probes_of(kProbeBegin | kProbeEnd | kProbeUnwind | kProbeConstructed);
    probes.method_id = [](void*, const MethodSite&, uint32_t) -> int32_t { return 300; };
    Rewritten r(builder.build(), probes);
    REQUIRE(r.has_code);
    const uint8_t* code = r.code.code.data;
    //  0 sipush 300  3 invokestatic begin  6 lstore_1  7 aload_0  8 invokespecial
    const bool tells = super[0] == 'S';
    CHECK(static_cast<int16_t>(load_be16(code + 1)) == (tells ? ~300 : 300));
    CHECK(code[8] == 183);
    // 11 lload_1  12 invokestatic constructed  15 lstore_1; what is covered begins after it
    CHECK(code[11] == 31);
    CHECK((code[15] == 64) == tells);
    REQUIRE(r.code.handler_count == 1);
    CHECK(load_be16(r.code.handlers) == (tells ? 16 : 11));
  }
}

TEST_CASE("arguments are the first and last of a kind, and what is returned is passed on") {
  ClassBuilder builder;
  const uint16_t target = builder.method_ref("X", "x", "()V");
  Method method;
  method.access = 1;
  method.descriptor = "(D[[JFIJLjava/lang/String;S)J";
  method.locals = 10;
  method.stack = 2;
  //             0 invokestatic x  3 lload 5  5 lreturn
  method.code = {184, static_cast<uint8_t>(target >> 8), static_cast<uint8_t>(target), 22, 5, 173};
  builder.add(method);
  const uint32_t mask = kProbeBegin | kProbeEnd | kProbeArguments | kProbeResult;
  Rewritten r(builder.build(), probes_of(mask));
  REQUIRE(r.has_code);
  const auto method_at = [&r](uint32_t at) {
    MemberRef ref;
    CHECK(r.code.code.data[at] == 184);
    CHECK(r.view.pool.member(load_be16(r.code.code.data + at + 1), &ref));
    return std::string(reinterpret_cast<const char*>(ref.name.data), ref.name.size) +
           std::string(reinterpret_cast<const char*>(ref.descriptor.data), ref.descriptor.size);
  };
  Bytes code(r.code.code.data, r.code.code.data + r.code.code.size);
  REQUIRE(code.size() == 34);
  CHECK(method_at(11) == "arguments(ILjava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;JJ)J");
  CHECK(method_at(28) == "result(JLjava/lang/Object;J)V");
  for (const size_t call : {11, 16, 28}) code[call + 1] = code[call + 2] = 0;
  CHECK(code == Bytes{4,  42, 45,  25, 8, 21, 5, 133, 21, 9,  133, 184, 0,  0,  //
                      55, 10, 184, 0,  0, 22, 5, 55,  12, 22, 10,  1,   22, 12, 184, 0, 0, 22, 12, 173});
  CHECK(r.code.max_locals == 14);
  CHECK(r.code.max_stack == 8);
}

TEST_CASE(
    "values need a descriptor that fits the code; a constructor returns what is still in its variable") {
  const uint32_t mask = kProbeBegin | kProbeEnd | kProbeArguments | kProbeResult;
  Method method;
  for (const char* descriptor : {"(J", "(Q)V", "([)V", "(Lx)V", "()", "x", "", "(J)V", "()I", "([V)V"}) {
    CAPTURE(descriptor);
    method.descriptor = descriptor;
    method.code = {177};
    CHECK(rewrite_one(method, mask).left(Reason::kMalformedCode) == 1);
  }
  for (const uint8_t store : {76, 75}) {  // astore_1, astore_0
    ClassBuilder builder("java/lang/Object", "");
    method = empty_constructor();
    method.locals = 2;
    method.code = {1, store, 177};
    builder.add(method);
    Rewritten r(builder.build(), probes_of(mask));
    REQUIRE(r.has_code);
    const uint8_t* returns = r.code.code.data + r.code.code.size - 1;
    CHECK(*returns == 177);
    CHECK(returns[-5] == (store == 76 ? kOpAload0 : kOpAconstNull));
  }
}

TEST_CASE("a field is added once") {
  ClassBuilder builder("java/lang/Thread");
  ProbeSet probes = probes_of(0);
  probes.users[0].field = {"java/lang/Thread", "$hprof", "J", 0x1081};
  Rewritten first(builder.build(), probes);
  REQUIRE(first.result.reason == Reason::kRewritten);
  REQUIRE(first.parsed == Reason::kRewritten);
  CHECK(load_be16(first.bytes.data() + first.view.fields) == 1);
  CHECK(Rewritten(first.bytes, probes).result.reason == Reason::kUnchanged);
}

TEST_CASE("filters, the targets' class and classes in doubt are left") {
  ClassBuilder builder;
  builder.add(calling(builder));
  ProbeSet probes = probes_of(kProbeAll);
  probes.include_method = no_probes;
  CHECK(Rewritten(builder.build(), probes).left(Reason::kExcluded) == 1);
  probes.include_class = no_class;
  CHECK(Rewritten(builder.build(), probes).result.reason == Reason::kExcluded);
  ClassBuilder targets("Targets");
  targets.add(calling(targets));
  CHECK(Rewritten(targets.build(), probes_of(kProbeAll)).result.reason == Reason::kExcluded);
  ClassBuilder unknown;
  unknown.raw_constant({21, 0, 0});
  CHECK(Rewritten(unknown.build(), probes_of(kProbeAll)).result.reason == Reason::kUnknownPoolTag);
  Bytes extra = builder.build();
  extra.push_back(0);
  CHECK(Rewritten(extra, probes_of(kProbeAll)).result.reason == Reason::kMalformedClass);
  Bytes old = builder.build();
  old[7] = 45;
  CHECK(Rewritten(old, probes_of(kProbeAll)).result.reason == Reason::kOldFormat);
  Bytes later = builder.build();
  later[7] = 200;
  CHECK(Rewritten(later, probes_of(kProbeBegin)).result.reason == Reason::kRewritten);
}

TEST_CASE("a full constant pool leaves the class") {
  ClassBuilder builder;
  builder.add(calling(builder));
  while (builder.utf8("") < 65530) {
  }
  CHECK(Rewritten(builder.build(), probes_of(kProbeBegin)).result.reason == Reason::kPoolFull);
}

TEST_CASE("memory is bounded, and not asked for again in the steady state") {
  ClassBuilder builder;
  builder.add(calling(builder));
  Bytes file = builder.build();
  CHECK(Rewritten(file, probes_of(kProbeAll), 8192).result.reason == Reason::kNoMemory);
  int allocations = 0;
  Scratch scratch({&allocations, test_allocate, test_release}, 1u << 20);
  ProbeSet probes = probes_of(kProbeAll);
  RewriteResult result;
  for (int i = 0; i < 3; i++) {
    if (i == 1) allocations = 0;
    rewrite({file.data(), static_cast<uint32_t>(file.size())}, 0, probes, scratch, &result);
    CHECK(result.reason == Reason::kRewritten);
  }
  CHECK(allocations == 0);
}

TEST_CASE("no cut-off class is accepted") {
  Span span = {java::kHprofBridge, sizeof java::kHprofBridge};
  Bytes file(span.data, span.data + span.size);
  ProbeSet probes = probes_of(kProbeAll);
  REQUIRE(Rewritten(file, probes).result.reason == Reason::kRewritten);
  for (size_t size = 0; size < file.size(); size++) {
    Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    REQUIRE(Rewritten(cut, probes).result.reason != Reason::kRewritten);
  }
}

TEST_CASE("a class is renamed in all of its texts, and is a class file again") {
  Scratch scratch({nullptr, test_allocate, test_release}, 1u << 20);
  GrowBuffer out(scratch.budget);
  const Span bridge = {java::kHprofBridge, sizeof java::kHprofBridge};
  const Renaming to_acme[] = {{span_of("Unseen"), span_of("unseen")},
                              {span_of("java/lang/HprofBridge"), span_of("java/lang/Acme")}};
  REQUIRE(rename_class(bridge, to_acme, 2, scratch, out) == Reason::kRewritten);
  const std::string text(reinterpret_cast<const char*>(out.data()), out.size());
  CHECK(text.find("HprofBridge") == std::string::npos);
  ClassView view;
  REQUIRE(parse_class({out.data(), static_cast<uint32_t>(out.size())}, scratch, &view) == Reason::kRewritten);
  CHECK(view.name.equals("java/lang/Acme"));
  const Renaming to_itself = {span_of("Hprof"), span_of("Hprof")};
  REQUIRE(rename_class(bridge, &to_itself, 1, scratch, out) == Reason::kRewritten);
  CHECK(Span{out.data(), static_cast<uint32_t>(out.size())}.equals(bridge));
}

TEST_CASE("a catch clause tells of its exception; a finally clause and one that covers itself do not") {
  ClassBuilder builder;
  const uint16_t type = builder.class_of("java/lang/RuntimeException");
  Method method;
  //              0 nop  1 return  2 pop  3 return  4 pop  5 return  6 pop  7 return
  method.code = {0, 177, 87, 177, 87, 177, 87, 177};
  method.stack = 1;
  method.handlers = {{0, 1, 2, type}, {0, 2, 2, type}, {0, 1, 4, 0}, {0, 7, 6, type}};
  builder.add(method);
  Rewritten r(builder.build(), probes_of(kProbeCaught));
  CHECK(r.result.counts.caughts == 1);
  CHECK(r.result.counts.caughts_left_out == 1);
}

TEST_CASE("constructors of Throwable tell of themselves at their ends, those of others do not") {
  for (const char* name : {"java/lang/Throwable", "java/lang/Throwabl"}) {
    CAPTURE(name);
    ClassBuilder builder(name);
    const uint16_t super = builder.method_ref("java/lang/Object", "<init>", "()V");
    Method method;
    method.name = "<init>";
    method.access = 1;
    method.locals = 1;
    method.stack = 1;
    method.code = {42, 183, static_cast<uint8_t>(super >> 8), static_cast<uint8_t>(super), 177};
    builder.add(method);
    Rewritten r(builder.build(), probes_of(kProbeMade));
    const bool is_throwable = name[18] == 'e';
    CHECK((r.result.reason == Reason::kRewritten) == is_throwable);
    if (!is_throwable) continue;
    method.name = "fillInStackTrace";
    ClassBuilder other(name);
    other.add(method);
    CHECK(Rewritten(other.build(), probes_of(kProbeMade)).result.reason == Reason::kUnchanged);
  }
}
