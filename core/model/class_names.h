// Names of classes: from the VM's signatures to names as in Java source, the same in every run.
#pragma once

#include "core/base/text.h"

namespace hprof {

// The VM generates classes and puts numbers or addresses into their names, which differ from run to run.
// These parts are dropped:
//
//   signature                                              stable
//   LFoo$$Lambda$14/1234567;              (JDK 8)          LFoo$$Lambda;
//   LFoo$$Lambda$14/0x00000008000c3040;   (9 to 14)        LFoo$$Lambda;
//   LFoo$$Lambda$14.0x00000008000c3040;   (15 to 20)       LFoo$$Lambda;
//   LFoo$$Lambda.0x000074e8c4003040;      (21 on)          LFoo$$Lambda;
//   LFoo.0x000074e8c4003040; or any other text after '.'   LFoo;
//   Ljava/lang/invoke/LambdaForm$MH012.0x...;              Ljava/lang/invoke/LambdaForm$MH;
//   LFoo$$InjectedInvoker.0x...;                           LFoo$$InjectedInvoker;
//   Ljdk/internal/reflect/GeneratedConstructorAccessor12; Ljdk/internal/reflect/GeneratedConstructorAccessor;
//   Ljdk/proxy1/$Proxy7;                                   Ljdk/proxy/$Proxy;
//
// A '/' suffix counts as the VM's only if it is 0x and hexadecimal digits, or at least four decimal digits:
// obfuscators give classes names like a/0.

// Writes the stable signature (also of arrays), and returns true. False: the signature is stable as it is, or
// no signature, and nothing was written. `stable` has room for signature.size + 1. [any]
bool write_stable_signature(Str signature, TextWriter& stable);

// Writes the Java name of a field signature: [Ljava/lang/String; is java.lang.String[], [[B is byte[][], I is
// int. The VM's suffix of a hidden class stays as in Class.getName, Foo/0x000074e8c4003040. What is no
// signature is written unchanged. Writes at most twice the signature's size and 8 bytes. [any]
void write_java_name(Str signature, TextWriter& name);

// Writes the signature of a class given by its Java name (no arrays): java.util.Map is Ljava/util/Map;. [any]
void write_signature(Str java_name, TextWriter& signature);

}  // namespace hprof
