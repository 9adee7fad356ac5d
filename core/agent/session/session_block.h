// One block of memory with a session and its parts. Only who makes or frees a session, and the session
// itself, see it; all others use SessionParts.
#pragma once

#include "core/agent/session/control.h"
#include "core/agent/session/log.h"
#include "core/agent/session/memory_plan.h"
#include "core/agent/session/reports.h"
#include "core/agent/session/session.h"
#include "core/agent/session/session_commands.h"
#include "core/agent/session/setup.h"
#include "core/agent/session/socket_reader.h"
#include "core/agent/session/units.h"
#include "core/agent/vm/class_book.h"
#include "core/agent/vm/class_files.h"
#include "core/agent/vm/class_rewriter.h"
#include "core/agent/vm/loader_book.h"
#include "core/agent/vm/phase_gate.h"
#include "core/agent/vm/thread_book.h"
#include "core/agent/vm/unload_watch.h"
#include "core/base/counters.h"
#include "core/base/memory_account.h"
#include "core/model/model.h"
#include "core/pipeline/pipeline.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

struct SessionBlock {
  Session session{*this};
  Setup setup;
  Log log{setup.core()};
  MemoryAccount memory;
  MemoryTurn turn;
  LossCounters losses;
  Model model;
  HotSpot hotspot;
  ThreadBook threads;
  LoaderBook loaders;
  ClassBook classes;
  UnloadWatch unloads;
  ClassRewriter rewriter;
  ClassFiles class_files;
  PhaseGate gate;
  RecordKinds kinds;
  Pipeline pipeline;
  Units units{session.parts()};
  Reports reports{session.parts()};
  Control control;
  SocketReader reader;
  SessionCommands commands{session.parts()};
};

}  // namespace hprof
