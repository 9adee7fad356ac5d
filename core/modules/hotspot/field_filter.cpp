#include "core/modules/hotspot/field_filter.h"

#include <initializer_list>

#include <hprof/cpp/local_frame.hpp>

namespace hprof {

namespace {

constexpr jint kLocals = 16;

// The result of a JNI call; nullptr after an exception.
template <class Made>
Made good(JNIEnv* jni, Made made) {
  if (jni->ExceptionCheck() == JNI_FALSE) return made;
  jni->ExceptionClear();
  return Made{};
}

struct Registrar {
  jclass reflection;
  jmethodID method;
  bool takes_set;  // from JDK 12 on; earlier: an array of strings
};

Registrar find_registrar(JNIEnv* jni) {
  constexpr const char* kOwners[] = {"jdk/internal/reflect/Reflection",
                                     "sun/reflect/Reflection"};  // JDK 9 and later; 8
  for (const char* name : kOwners) {
    jclass owner = good(jni, jni->FindClass(name));
    if (owner == nullptr) continue;
    for (const bool takes_set : {true, false}) {
      const char* signature =
          takes_set ? "(Ljava/lang/Class;Ljava/util/Set;)V" : "(Ljava/lang/Class;[Ljava/lang/String;)V";
      jmethodID method = good(jni, jni->GetStaticMethodID(owner, "registerFieldsToFilter", signature));
      if (method != nullptr) return {owner, method, takes_set};
    }
  }
  return {};
}

// Up to JDK 11 the filter compares references, and field names are interned.
jstring interned(JNIEnv* jni, const char* text) {
  jstring made = good(jni, jni->NewStringUTF(text));
  jclass string = made != nullptr ? good(jni, jni->GetObjectClass(made)) : nullptr;
  if (string == nullptr) return nullptr;
  jmethodID intern = good(jni, jni->GetMethodID(string, "intern", "()Ljava/lang/String;"));
  return intern != nullptr ? static_cast<jstring>(good(jni, jni->CallObjectMethod(made, intern))) : nullptr;
}

// The field's name as the registrar's argument.
jobject names_for(JNIEnv* jni, const Registrar& registrar, const char* field) {
  jstring name = interned(jni, field);
  if (name == nullptr) return nullptr;
  if (!registrar.takes_set) {
    jclass string = good(jni, jni->FindClass("java/lang/String"));
    return string != nullptr ? good(jni, jni->NewObjectArray(1, string, name)) : nullptr;
  }
  jclass collections = good(jni, jni->FindClass("java/util/Collections"));
  if (collections == nullptr) return nullptr;
  jmethodID singleton =
      good(jni, jni->GetStaticMethodID(collections, "singleton", "(Ljava/lang/Object;)Ljava/util/Set;"));
  if (singleton == nullptr) return nullptr;
  return good(jni, jni->CallStaticObjectMethod(collections, singleton, name));
}

// True: reflection shows the field, or the call fails.
bool is_shown(JNIEnv* jni, jclass owner, const char* field) {
  jclass class_class = good(jni, jni->FindClass("java/lang/Class"));
  jclass field_class = good(jni, jni->FindClass("java/lang/reflect/Field"));
  if (class_class == nullptr || field_class == nullptr) return true;
  jmethodID list =
      good(jni, jni->GetMethodID(class_class, "getDeclaredFields", "()[Ljava/lang/reflect/Field;"));
  jmethodID get_name = good(jni, jni->GetMethodID(field_class, "getName", "()Ljava/lang/String;"));
  jclass object_class = good(jni, jni->FindClass("java/lang/Object"));
  if (object_class == nullptr) return true;
  jmethodID equals = good(jni, jni->GetMethodID(object_class, "equals", "(Ljava/lang/Object;)Z"));
  jstring name = good(jni, jni->NewStringUTF(field));
  if (list == nullptr || get_name == nullptr || equals == nullptr || name == nullptr) return true;
  auto fields = static_cast<jobjectArray>(good(jni, jni->CallObjectMethod(owner, list)));
  if (fields == nullptr) return true;
  const jsize count = jni->GetArrayLength(fields);
  bool shown = false;
  for (jsize i = 0; i < count && !shown; i++) {
    jobject one = good(jni, jni->GetObjectArrayElement(fields, i));
    jobject its_name = one != nullptr ? good(jni, jni->CallObjectMethod(one, get_name)) : nullptr;
    shown = its_name == nullptr || good(jni, jni->CallBooleanMethod(name, equals, its_name)) != JNI_FALSE;
    if (its_name != nullptr) jni->DeleteLocalRef(its_name);
    if (one != nullptr) jni->DeleteLocalRef(one);
  }
  return shown;
}

const char* hide(JNIEnv* jni, jclass owner, const char* field) {
  const Registrar registrar = find_registrar(jni);
  if (registrar.method == nullptr) return "the JDK has no such filter";
  jobject names = names_for(jni, registrar, field);
  if (names == nullptr) return "no memory";
  jvalue arguments[2];
  arguments[0].l = owner;
  arguments[1].l = names;
  jni->CallStaticVoidMethodA(registrar.reflection, registrar.method, arguments);
  const bool threw = jni->ExceptionCheck() != JNI_FALSE;
  if (threw) jni->ExceptionClear();
  if (threw) return "the JDK has another filter for that class";
  return is_shown(jni, owner, field) ? "the class had been reflected on before" : nullptr;
}

}  // namespace

const char* hide_field(JNIEnv* jni, jclass owner, const char* field) {
  const LocalFrame locals(jni, kLocals);
  return locals.is_open() ? hide(jni, owner, field) : "no memory";
}

}  // namespace hprof
