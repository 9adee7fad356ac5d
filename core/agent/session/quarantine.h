// The memory of sessions. That of a detached one is reused a minute later, since a callback that began before
// the detach may still read its gates.
#pragma once

namespace hprof {

struct SessionBlock;

// nullptr: no memory. [onload]
SessionBlock* make_block();
// Frees a session that the VM has not seen, so none of its callbacks can come. [onload]
void discard_block(SessionBlock* block);
// False: too many sessions were detached in the last minute to keep another one. [onload]
bool has_room_for_detached();
// Takes a detached session, whose memory is reused later. [control]
void keep_detached(SessionBlock* block);

}  // namespace hprof
