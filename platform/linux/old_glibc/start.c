// The start of a program. glibc from 2.34 on runs its constructors itself; older ones only through the
// function that the program passes.
#include <stddef.h>

typedef void (*Function)(void);
typedef void (*Constructor)(int, char**, char**);
typedef int (*Main)(int, char**, char**);

extern Constructor __preinit_array_start[], __preinit_array_end[], __init_array_start[], __init_array_end[];

static void run_constructors(int count, char** arguments, char** environment) {
  for (Constructor* f = __preinit_array_start; f != __preinit_array_end; ++f)
    (*f)(count, arguments, environment);
  for (Constructor* f = __init_array_start; f != __init_array_end; ++f) (*f)(count, arguments, environment);
}

__asm__(".symver library_start, __libc_start_main@GLIBC_2.2.5");
extern __attribute__((visibility("default"))) int library_start(Main, int, char**, Constructor, Function,
                                                                Function, void*);

int __libc_start_main(Main program, int count, char** arguments, Constructor none, Function finish,
                      Function linker_finish, void* stack_end);
int __libc_start_main(Main program, int count, char** arguments, Constructor none, Function finish,
                      Function linker_finish, void* stack_end) {
  (void)none;
  return library_start(program, count, arguments, run_constructors, finish, linker_finish, stack_end);
}
