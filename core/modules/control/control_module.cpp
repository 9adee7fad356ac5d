// The module `control`. Its one unit is opened by the core itself.
#include <new>

#include <hprof/plugin.h>

#include "core/modules/control/socket_server.h"
#include "platform/platform.h"

namespace hprof {

namespace {

ControlServer* make() {
  void* memory = platform::allocate_zeroed(sizeof(SocketServer));
  return memory != nullptr ? new (memory) SocketServer : nullptr;
}

void unmake(ControlServer* server) {
  auto* own = static_cast<SocketServer*>(server);
  own->~SocketServer();
  platform::deallocate(own);
}

const ControlTable kTable = {{sizeof(ControlTable), kControlVersion}, make, unmake};

const hprof_unit kUnit =
    core_unit(kControlModule, "commands: control=, listen=, from the peer of net=", &kTable);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof

HPROF_MODULE(control, "1.0", "hprof", hprof::kUnits, 1)
