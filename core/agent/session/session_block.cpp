#include "core/agent/session/session_block.h"

namespace hprof {

SessionParts::SessionParts(SessionBlock& block)
    : setup(block.setup),
      settings(block.units.settings()),
      voice(block.voice),
      messages(block.voice.messages()),
      memory(block.memory),
      turn(block.turn),
      losses(block.losses),
      model(block.model),
      kinds(block.kinds),
      hotspot(block.hotspot),
      threads(block.threads),
      classes(block.classes),
      unloads(block.unloads),
      rewriter(block.rewriter),
      class_files(block.class_files),
      pipeline(block.pipeline),
      units(block.units),
      reports(block.reports),
      control(block.control),
      commands(block.commands),
      gate(block.gate) {}

}  // namespace hprof
