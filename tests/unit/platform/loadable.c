// A library for library_test to load.

__attribute__((visibility("default"))) int hprof_test_loadable(void) { return 42; }
