// A library for library_test to load.

#if defined(_WIN32)
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
    int hprof_test_loadable(void) {
  return 42;
}
