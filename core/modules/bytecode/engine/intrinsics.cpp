#include "core/modules/bytecode/engine/intrinsics.h"

#include <cstring>
#include <initializer_list>

#include "core/modules/bytecode/engine/code_tables.h"

namespace hprof {

static constexpr uint16_t kLastWithoutMarks = 52;  // class file version of JDK 8

// The intrinsics of HotSpot 8 that have bytecode: a class, and its methods between blanks. What it does to
// boxes and to chains of StringBuilder.append takes calls away, too.
static constexpr char kOfJava8[] =
    "java/lang/Math abs sin cos tan atan2 sqrt log log10 pow exp min max addExact decrementExact "
    "incrementExact multiplyExact negateExact subtractExact \n"
    "java/lang/Integer bitCount numberOfLeadingZeros numberOfTrailingZeros reverseBytes valueOf intValue "
    "toString \n"
    "java/lang/Long bitCount numberOfLeadingZeros numberOfTrailingZeros reverseBytes valueOf longValue \n"
    "java/lang/Short reverseBytes valueOf shortValue \n"
    "java/lang/Character reverseBytes valueOf charValue \n"
    "java/lang/Byte valueOf byteValue \n"
    "java/lang/Boolean valueOf booleanValue \n"
    "java/lang/Float floatToIntBits valueOf floatValue \n"
    "java/lang/Double doubleToLongBits valueOf doubleValue \n"
    "java/lang/String <init> compareTo equals indexOf \n"
    "java/lang/StringBuilder <init> append toString \n"
    "java/lang/StringBuffer <init> append toString \n"
    "java/lang/ref/Reference get \n"
    "java/lang/Object <init> \n"
    "java/util/Arrays copyOf copyOfRange equals \n"
    "java/nio/Buffer checkIndex \n"
    "java/math/BigInteger multiplyToLen squareToLen mulAdd montgomeryMultiply montgomerySquare \n"
    "sun/misc/Unsafe getAndAddInt getAndAddLong getAndSetInt getAndSetLong getAndSetObject \n"
    "sun/nio/cs/ISO_8859_1$Encoder encodeISOArray \n"
    "sun/security/provider/SHA implCompress \n"
    "sun/security/provider/SHA2 implCompress \n"
    "sun/security/provider/SHA5 implCompress \n"
    "sun/security/provider/DigestBase implCompressMultiBlock \n"
    "com/sun/crypto/provider/AESCrypt encryptBlock decryptBlock \n"
    "com/sun/crypto/provider/CipherBlockChaining encrypt decrypt \n";

static bool is_of_java8(const ClassView& view, const MethodView& method) {
  for (const char* at = kOfJava8; *at != '\0'; at = std::strchr(at, '\n') + 1) {
    const char* end = std::strchr(at, ' ');
    if (!view.name.equals(at, static_cast<uint32_t>(end - at))) continue;
    while (end[1] != '\n') {
      const char* name = end + 1;
      end = std::strchr(name, ' ');
      if (method.name.equals(name, static_cast<uint32_t>(end - name))) return true;
    }
    return false;
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
