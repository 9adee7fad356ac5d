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

// Methods of JDK 9 to 27 that run for intrinsics' bodies, alone or nearly so: they are called until the
// callers of those are compiled. With a descriptor's beginning where others have the name.
static constexpr char kCalledByBodies[] =
    "java/lang/StrictMath atan2 cbrt ceil cos exp floor floorOrCeil log log10 pow rint sin sinh tan tanh \n"
    "java/lang/FdLibm __LO \n"
    "java/lang/FdLibm$Atan2 compute \n"
    "java/lang/FdLibm$Cbrt compute \n"
    "java/lang/FdLibm$Cos compute __kernel_cos \n"
    "java/lang/FdLibm$Exp compute \n"
    "java/lang/FdLibm$KernelRemPio2 __kernel_rem_pio2 \n"
    "java/lang/FdLibm$Log compute \n"
    "java/lang/FdLibm$Log10 compute \n"
    "java/lang/FdLibm$Pow compute \n"
    "java/lang/FdLibm$RemPio2 __ieee754_rem_pio2 \n"
    "java/lang/FdLibm$Sin compute __kernel_sin \n"
    "java/lang/FdLibm$Sinh compute \n"
    "java/lang/FdLibm$Sqrt compute \n"
    "java/lang/FdLibm$Tan compute __kernel_tan \n"
    "java/lang/FdLibm$Tanh compute \n"
    "java/lang/Byte toUnsignedInt \n"
    "java/lang/Integer parallelSuffix \n"
    "java/lang/Long parallelSuffix \n"
    "java/lang/AbstractStringBuilder <init>(I <init>(Ljava/lang/String; append(I \n"
    "java/lang/StringLatin1 compareTo([B[BII compareToUTF16Values \n"
    "java/lang/StringUTF16 compareValues getChars(III indexOfCharUnsafe indexOfLatin1Unsafe indexOfUnsafe "
    "inflate \n"
    "java/math/BigInteger addOne mulAdd primitiveLeftShift \n"
    "jdk/internal/misc/Unsafe makeInt makeLong makeShort pick pickPos putIntParts putLongParts putShortParts "
    "toUnsignedInt toUnsignedLong \n"
    "jdk/internal/util/ArraysSupport hashCode(I[ signedHashCode unsignedHashCode utf16hashCode \n"
    "com/sun/crypto/provider/CounterMode increment \n"
    "com/sun/crypto/provider/GHASH blockMult processBlock \n"
    "com/sun/crypto/provider/ML_KEM implKyber12To16Java implKyberAddPolyJava implKyberBarrettReduceJava "
    "implKyberInverseNttJava implKyberNttJava implKyberNttMultJava montMul seilerInverseNTT seilerNTT \n"
    "sun/security/provider/ByteArrayAccess b2iBig64 b2lBig128 \n"
    "sun/security/provider/MD5 FF GG HH II \n"
    "sun/security/provider/ML_DSA decomposePolyJava implDilithiumAlmostInverseNttJava "
    "implDilithiumAlmostNttJava implDilithiumMontMulByConstantJava implDilithiumNttMultJava \n"
    "sun/security/provider/SHA3Parallel doubleKeccakJava \n"
    "sun/security/provider/SHA5 lf_R lf_S lf_ch lf_delta0 lf_delta1 lf_maj lf_sigma0 lf_sigma1 \n";

// True: `pattern` of `size` bytes is the method's name, or its name and the beginning of its descriptor.
static bool is_named(const MethodView& method, const char* pattern, size_t size) {
  const size_t length = method.name.size;
  if (size <= length) return method.name.equals(pattern, static_cast<uint32_t>(size));
  return method.descriptor.size >= size - length && std::memcmp(pattern, method.name.data, length) == 0 &&
         std::memcmp(pattern + length, method.descriptor.data, size - length) == 0;
}

// Whether a table like kOfJava8 has the method.
static bool has(const char* table, const ClassView& view, const MethodView& method) {
  for (const char* at = table; *at != '\0'; at = std::strchr(at, '\n') + 1) {
    const char* end = std::strchr(at, ' ');
    if (!view.name.equals(at, static_cast<uint32_t>(end - at))) continue;
    while (end[1] != '\n') {
      const char* name = end + 1;
      end = std::strchr(name, ' ');
      if (is_named(method, name, static_cast<size_t>(end - name))) return true;
    }
    return false;
  }
  return false;
}

bool is_intrinsic(const ClassView& view, const MethodView& method) {
  if (has(view.major <= kLastWithoutMarks ? kOfJava8 : kCalledByBodies, view, method)) return true;
  if (view.major <= kLastWithoutMarks) return false;
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
