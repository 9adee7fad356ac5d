// The parts of a session, for each other and for services; none of them knows the session. Include the
// headers of those that you use.
#pragma once

#include <atomic>
#include <jvmti.h>

#include <hprof/host.h>

#include "core/base/message.h"

namespace hprof {

class ClassBook;
class ClassFiles;
class ClassRewriter;
class CommandTarget;
class Control;
class HotSpot;
class Log;
class LossCounters;
class MemoryAccount;
class MemoryTurn;
class Model;
class PhaseGate;
class Pipeline;
class RecordKinds;
class Reports;
class Setup;
class ThreadBook;
class Units;
class UnloadWatch;
struct SessionBlock;

// kEnding: detaching from a VM that goes on; kDead: nothing runs any more.
enum class SessionPhase : uint32_t { kLoaded, kLive, kDying, kEnding, kDead };

// Lives as long as the session, like all that it points to, except jvmti: valid from load() until the detach.
struct SessionParts {
  // Binds each part by its name. session_block.cpp
  explicit SessionParts(SessionBlock& block);

  // Those that are used most come first, where their offsets take a byte.
  const Setup& setup;
  Log& log;
  Units& units;
  Reports& reports;
  Control& control;
  Pipeline& pipeline;
  jvmtiEnv* jvmti = nullptr;
  std::atomic<SessionPhase> phase_word{SessionPhase::kLoaded};  // the session writes it
  ThreadBook& threads;
  ClassBook& classes;
  MemoryAccount& memory;
  Model& model;
  ClassRewriter& rewriter;
  HotSpot& hotspot;
  const hprof_settings& settings;
  PhaseGate& gate;    // open in the live phase
  Messages messages;  // of the log [any] but [signal]
  MemoryTurn& turn;
  LossCounters& losses;
  RecordKinds& kinds;
  UnloadWatch& unloads;
  ClassFiles& class_files;
  CommandTarget& commands;
  JavaVM* vm = nullptr;

  SessionPhase phase() const { return phase_word.load(std::memory_order_acquire); }
  JNIEnv* jni() const;  // of the calling thread; nullptr: none
  void* vm_symbol(const char* name) const;
  // False: classes with probes or handlers stay in the VM and have addresses of this session.
  bool can_be_detached() const;
};

}  // namespace hprof
