// Constants of the build: HPROF_EMBEDDED, HPROF_CHECKS, HPROF_MAX_MEMORY, and which units exist
// (CMakeLists.txt). Code that a constant here rules out is not linked.
#pragma once

namespace hprof {

// True: the build defines the macro, as 1. The text of one that it does not define is its name.
#define HPROF_TEXT_OF(macro) #macro
#define HPROF_IS_DEFINED(macro) (HPROF_TEXT_OF(macro)[0] == '1')

// All memory is taken at the start, in one block, and the core's tables are small.
constexpr bool kEmbedded = HPROF_IS_DEFINED(HPROF_EMBEDDED);
// Units may be libraries of their own.
constexpr bool kHasModules = !HPROF_IS_DEFINED(HPROF_NO_MODULES);
// A unit of this build writes to sockets, or commands come over them (the module control) and by attaching.
constexpr bool kHasSockets = !HPROF_IS_DEFINED(HPROF_NO_SOCKETS);
// every= cuts windows out of reports: the module report_windows is there.
constexpr bool kHasReportWindows = !HPROF_IS_DEFINED(HPROF_NO_REPORT_WINDOWS);
// Classes can be rewritten: the engine for it is there.
constexpr bool kHasBytecode = !HPROF_IS_DEFINED(HPROF_NO_BYTECODE);
// A unit of this build writes heap dumps.
constexpr bool kHasHeapDump = !HPROF_IS_DEFINED(HPROF_NO_HEAP_DUMP);
// The core's module hotspot (core/modules/hotspot) is there.
constexpr bool kHasHotSpotModule = !HPROF_IS_DEFINED(HPROF_NO_HOTSPOT_MODULE);
// A unit of this build reads the states of threads (service/accounting.h).
constexpr bool kHasAccounting = !HPROF_IS_DEFINED(HPROF_NO_ACCOUNTING);
// A unit of this build asks how busy the machine is (draft/machine.h).
constexpr bool kHasMachine = !HPROF_IS_DEFINED(HPROF_NO_MACHINE);
// Checks at run time that units keep the rules of the ABI, at some cost (the preset debug).
constexpr bool kChecks = HPROF_IS_DEFINED(HPROF_CHECKS);

// The default of max-memory=, as text.
#ifndef HPROF_MAX_MEMORY
#define HPROF_MAX_MEMORY "256m"
#endif

}  // namespace hprof
