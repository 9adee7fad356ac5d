// Constants of the build: HPROF_EMBEDDED, HPROF_CHECKS, HPROF_MAX_MEMORY, and which units exist
// (CMakeLists.txt). Code that a constant here rules out is not linked.
#pragma once

namespace hprof {

// All memory is taken at the start, in one block, and the core's tables are small.
#ifdef HPROF_EMBEDDED
constexpr bool kEmbedded = true;
#else
constexpr bool kEmbedded = false;
#endif

// Units may be libraries of their own.
#ifdef HPROF_NO_MODULES
constexpr bool kHasModules = false;
#else
constexpr bool kHasModules = true;
#endif

// A unit of this build writes to sockets, or commands come over them (the module control) and by attaching.
#ifdef HPROF_NO_SOCKETS
constexpr bool kHasSockets = false;
#else
constexpr bool kHasSockets = true;
#endif

// every= cuts windows out of reports: the module report_windows is there.
#ifdef HPROF_NO_REPORT_WINDOWS
constexpr bool kHasReportWindows = false;
#else
constexpr bool kHasReportWindows = true;
#endif

// Classes can be rewritten: the engine for it is there.
#ifdef HPROF_NO_BYTECODE
constexpr bool kHasBytecode = false;
#else
constexpr bool kHasBytecode = true;
#endif

// A unit of this build writes heap dumps.
#ifdef HPROF_NO_HEAP_DUMP
constexpr bool kHasHeapDump = false;
#else
constexpr bool kHasHeapDump = true;
#endif

// The core's module hotspot (core/modules/hotspot) is there.
#ifdef HPROF_NO_HOTSPOT_MODULE
constexpr bool kHasHotSpotModule = false;
#else
constexpr bool kHasHotSpotModule = true;
#endif

// A unit of this build reads the states of threads (service/accounting.h).
#ifdef HPROF_NO_ACCOUNTING
constexpr bool kHasAccounting = false;
#else
constexpr bool kHasAccounting = true;
#endif

// A unit of this build asks how busy the machine is (draft/machine.h).
#ifdef HPROF_NO_MACHINE
constexpr bool kHasMachine = false;
#else
constexpr bool kHasMachine = true;
#endif

// Checks at run time that units keep the rules of the ABI, at some cost (the preset debug).
#ifdef HPROF_CHECKS
constexpr bool kChecks = true;
#else
constexpr bool kChecks = false;
#endif

// The default of max-memory=, as text.
#ifndef HPROF_MAX_MEMORY
#define HPROF_MAX_MEMORY "256m"
#endif

}  // namespace hprof
