/* An agent that writes how it was loaded into the file that its options name; "refuse" is refused. */
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static int start(const char* how, const char* options) {
  FILE* file;
  if (options == NULL || strcmp(options, "refuse") == 0) return 7;
  file = fopen(options, "w");
  if (file == NULL) return 2;
  fputs(how, file);
  fclose(file);
  return 0;
}

EXPORT int Agent_OnLoad(void* vm, char* options, void* reserved) {
  (void)vm;
  (void)reserved;
  return start("loaded\n", options);
}

EXPORT int Agent_OnAttach(void* vm, char* options, void* reserved) {
  (void)vm;
  (void)reserved;
  return start("attached\n", options);
}
