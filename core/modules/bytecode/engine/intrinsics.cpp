#include "core/modules/bytecode/engine/intrinsics.h"

#include <initializer_list>

#include "core/modules/bytecode/engine/code_tables.h"

namespace hprof {

static constexpr uint16_t kLastWithoutMarks = 52;  // class file version of JDK 8

namespace {

struct Row {
  const char* owner;    // internal name of the class
  const char* methods;  // names, each between blanks
};

// The intrinsics of HotSpot 8 that have bytecode. What it does to boxes and to chains of StringBuilder.append
// takes calls away, too.
constexpr Row kOfJava8[] = {
    {"java/lang/Math",
     " abs sin cos tan atan2 sqrt log log10 pow exp min max addExact decrementExact incrementExact "
     "multiplyExact negateExact subtractExact "},
    {"java/lang/Integer",
     " bitCount numberOfLeadingZeros numberOfTrailingZeros reverseBytes valueOf intValue toString "},
    {"java/lang/Long",
     " bitCount numberOfLeadingZeros numberOfTrailingZeros reverseBytes valueOf longValue "},
    {"java/lang/Short", " reverseBytes valueOf shortValue "},
    {"java/lang/Character", " reverseBytes valueOf charValue "},
    {"java/lang/Byte", " valueOf byteValue "},
    {"java/lang/Boolean", " valueOf booleanValue "},
    {"java/lang/Float", " floatToIntBits valueOf floatValue "},
    {"java/lang/Double", " doubleToLongBits valueOf doubleValue "},
    {"java/lang/String", " <init> compareTo equals indexOf "},
    {"java/lang/StringBuilder", " <init> append toString "},
    {"java/lang/StringBuffer", " <init> append toString "},
    {"java/lang/ref/Reference", " get "},
    {"java/lang/Object", " <init> "},
    {"java/util/Arrays", " copyOf copyOfRange equals "},
    {"java/nio/Buffer", " checkIndex "},
    {"java/math/BigInteger",
     " multiplyToLen squareToLen implSquareToLen mulAdd implMulAdd montgomeryMultiply "
     "implMontgomeryMultiply montgomerySquare implMontgomerySquare "},
    {"java/lang/invoke/MethodHandleImpl", " isCompileConstant profileBoolean "},
    {"sun/misc/Unsafe", " getAndAddInt getAndAddLong getAndSetInt getAndSetLong getAndSetObject "},
    {"sun/nio/cs/ISO_8859_1$Encoder", " encodeISOArray implEncodeISOArray "},
    {"sun/security/provider/SHA", " implCompress implCompress0 "},
    {"sun/security/provider/SHA2", " implCompress implCompress0 "},
    {"sun/security/provider/SHA5", " implCompress implCompress0 "},
    {"sun/security/provider/DigestBase", " implCompressMultiBlock implCompressMultiBlock0 "},
    {"com/sun/crypto/provider/AESCrypt", " encryptBlock implEncryptBlock decryptBlock implDecryptBlock "},
    {"com/sun/crypto/provider/CipherBlockChaining", " encrypt implEncrypt decrypt implDecrypt "},
};

// True: the names, each between blanks, have that one.
bool has_name(const char* names, Span name) {
  for (const char* at = names; *at != '\0' && at[1] != '\0';) {
    uint32_t length = 0;
    while (at[1 + length] != ' ') length++;
    if (name.equals(at + 1, length)) return true;
    at += 1 + length;
  }
  return false;
}

}  // namespace

static bool is_of_java8(const ClassView& view, const MethodView& method) {
  for (const Row& row : kOfJava8) {
    if (view.name.equals(row.owner)) return has_name(row.methods, method.name);
  }
  return false;
}

bool is_intrinsic(const ClassView& view, const MethodView& method) {
  if (view.major <= kLastWithoutMarks) return is_of_java8(view, method);
  Cursor in{view.file.data, method.begin + 6, method.end};
  for (uint32_t count = in.u2(); count != 0 && in.ok; count--) {
    Span name;
    const bool marks = view.pool.utf8(in.u2(), &name) && name.equals("RuntimeVisibleAnnotations");
    const uint32_t size = in.u4();
    const Span content{view.file.data + in.at, size};
    in.skip(size);
    if (!marks || !in.ok) continue;
    for (const char* type :
         {"Ljdk/internal/vm/annotation/IntrinsicCandidate;", "Ljdk/internal/HotSpotIntrinsicCandidate;"}) {
      if (has_annotation(view, content, type)) return true;
    }
  }
  return false;
}

}  // namespace hprof
