/* Collectors whose probes call Java in a way that hprof/service/probes.h rules out; HprofWrongTargets.java
 * has the targets. */
#include <hprof/service/probes.h>

#include "misbehaving_collectors.h"
#include "wrong_targets.h"

#define NAME "java/lang/HprofWrongTargets"
static unsigned char newer[sizeof(HprofWrongTargets)]; /* a later version of class files */

static unsigned char hidden[sizeof(HprofWrongTargets)]; /* of a class that is not public */

static void nothing_native(void) {}
static const hprof_native natives[] = {{"unregistered", "(I)V", nothing_native},
                                       {"absent", "()V", nothing_native}};
static const hprof_native without_function = {"unregistered", "(I)V", NULL};

static hprof_status ask(const hprof_host* host, const void* config, void** self, char* error,
                        uint32_t error_size, const hprof_probe_user* user) {
  uint32_t number = 0;
  memcpy(newer, HprofWrongTargets, sizeof(newer));
  newer[7] = 61;
  memcpy(hidden, HprofWrongTargets, sizeof(hidden));
  hidden[ACCESS_AT] &= 0xfe;
  if (SERVICE(host, hprof_probes_service, HPROF_SERVICE_PROBES)->ask(host, user, &number) != HPROF_OK) {
    strcpy(error, "no probes");
    return HPROF_UNSUPPORTED;
  }
  return create(host, config, self, error, error_size);
}

#define ASKS_OF(name, class_, point_, method_, bytes_, size_, live_, natives_, native_count_)     \
  static const hprof_target name##_target = {point_, 0, method_, NULL};                           \
  static const hprof_probe_class name##_class = {class_, bytes_, size_, native_count_, natives_}; \
  static const hprof_probe_user name##_user = {.size = sizeof(hprof_probe_user),                  \
                                               .targets = &name##_target,                         \
                                               .target_count = 1,                                 \
                                               .class_count = 1,                                  \
                                               .classes = &name##_class,                          \
                                               .live = live_};                                    \
  static hprof_status name(const hprof_host* host, const void* config, void** self, char* error,  \
                           uint32_t size) {                                                       \
    return ask(host, config, self, error, size, &name##_user);                                    \
  }
#define ASKS(name, ...) ASKS_OF(name, NAME, __VA_ARGS__)
#define CALLS(name, method_) \
  ASKS(name, HPROF_POINT_LEAF, method_, HprofWrongTargets, sizeof(HprofWrongTargets), "live", natives, 1)

ASKS_OF(misnamed, "java/lang/AcmeTargets", HPROF_POINT_LEAF, "right", HprofWrongTargets,
        sizeof(HprofWrongTargets), "live", natives, 1)
CALLS(not_static, "notStatic")
CALLS(not_public, "notPublic")
CALLS(wrong_type, "wrongType")
CALLS(makes, "makes")
CALLS(throws_null, "throwsNull")
CALLS(calls, "calls")
CALLS(calls_intrinsic, "callsIntrinsic")
CALLS(swaps, "swaps")
CALLS(lambda, "lambda")
CALLS(elsewhere, "right")
ASKS(no_live, HPROF_POINT_LEAF, "right", HprofWrongTargets, sizeof(HprofWrongTargets), "dead", natives, 1)
ASKS(no_begin, HPROF_POINT_END, "right", HprofWrongTargets, sizeof(HprofWrongTargets), "live", natives, 1)
ASKS(unregistered, HPROF_POINT_LEAF, "right", HprofWrongTargets, sizeof(HprofWrongTargets), "live", NULL, 0)
ASKS(absent_native, HPROF_POINT_LEAF, "right", HprofWrongTargets, sizeof(HprofWrongTargets), "live", natives,
     2)
ASKS(no_function, HPROF_POINT_LEAF, "right", HprofWrongTargets, sizeof(HprofWrongTargets), "live",
     &without_function, 1)
ASKS(cut, HPROF_POINT_LEAF, "right", HprofWrongTargets, 300, "live", natives, 1)
ASKS(hidden_class, HPROF_POINT_LEAF, "right", hidden, sizeof(hidden), "live", natives, 1)
ASKS(later, HPROF_POINT_LEAF, "right", newer, sizeof(newer), "live", natives, 1)

static const hprof_target object_target = {HPROF_POINT_OBJECT, 0, "right", NULL};
static const hprof_probe_class object_class = {NAME, HprofWrongTargets, sizeof(HprofWrongTargets), 1,
                                               natives};
static const hprof_probe_user object_user = {.size = sizeof(hprof_probe_user),
                                             .targets = &object_target,
                                             .target_count = 1,
                                             .class_count = 1,
                                             .classes = &object_class,
                                             .live = "live"};
static hprof_status objects_alone(const hprof_host* host, const void* config, void** self, char* error,
                                  uint32_t size) {
  return ask(host, config, self, error, size, &object_user);
}
#define UNIT_OF(needs_, id_, create_)                                                           \
  MADE(id_, HPROF_UNIT_COLLECTOR, COLLECTOR_OPS(create_, start, report, none), .needs = needs_, \
       .wants = HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART, .records = notes)
#define UNIT(id_, create_) UNIT_OF(HPROF_NEED_CLASS_HOOKS, id_, create_)
MISBEHAVING_MODULE(misbehaving_targets, UNIT_OF(0, no_class_hooks, swaps),
                   UNIT(objects_without_arrays, objects_alone),
                   UNIT(target_calls_an_intrinsic, calls_intrinsic), UNIT(target_not_static, not_static),
                   UNIT(target_not_public, not_public), UNIT(class_not_public, hidden_class),
                   UNIT(target_of_another_type, wrong_type), UNIT(target_makes_objects, makes),
                   UNIT(target_throws, throws_null), UNIT(target_calls_the_jdk, calls),
                   UNIT(target_is_dynamic, lambda), UNIT(class_names_another, elsewhere),
                   UNIT(class_without_live, no_live), UNIT(end_without_begin, no_begin),
                   UNIT(native_unregistered, unregistered), UNIT(native_absent, absent_native),
                   UNIT(native_without_function, no_function), UNIT(class_cut, cut),
                   UNIT(class_of_a_later_version, later), UNIT(class_misnamed, misnamed))
