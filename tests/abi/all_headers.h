/* Every header of the C ABI, for the compile tests and to notice one that is forgotten here. */
#include <hprof/abi.h>
#include <hprof/collector.h>
#include <hprof/encoder.h>
#include <hprof/host.h>
#include <hprof/memory_sink.h>
#include <hprof/plugin.h>
#include <hprof/record.h>
#include <hprof/service/clock.h>
#include <hprof/service/emit.h>
#include <hprof/service/ids.h>
#include <hprof/service/io.h>
#include <hprof/service/jvm.h>
#include <hprof/service/log.h>
#include <hprof/service/mem.h>
#include <hprof/service/sampling.h>
#include <hprof/service/threads.h>
#include <hprof/sink.h>
