#include "core/agent/session/session_block.h"

namespace hprof {

SessionParts::SessionParts(SessionBlock& block)
    : setup(block.setup),
      log(block.log),
      units(block.units),
      reports(block.reports),
      control(block.control),
      pipeline(block.pipeline),
      threads(block.threads),
      classes(block.classes),
      memory(block.memory),
      model(block.model),
      rewriter(block.rewriter),
      hotspot(block.hotspot),
      settings(block.units.settings()),
      gate(block.gate),
      messages(block.log.messages()),
      turn(block.turn),
      losses(block.losses),
      kinds(block.kinds),
      unloads(block.unloads),
      class_files(block.class_files),
      commands(block.commands) {}

}  // namespace hprof
