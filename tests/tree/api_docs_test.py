"""tools/manual/api-docs --filter makes documentation of the comments at declarations, and of no others."""
import tempfile
import unittest

from support import script, write

BEFORE = """/* SPDX-License-Identifier: X */
/*
 * The file.
 */
#define A 1 /* a number */
#endif /* A */
/* --- heading --- */
/* Before <it>. */
typedef struct s {
  uint32_t size; /* HPROF_A .. */
  void (*call)(void* self /* mine */, int b); /* [any] */
} s;
static inline int f(void) {
  return 1; /* inside */
}
"""
AFTER = BEFORE
for plain, documented in (("/*\n * The file", "/** \\file %s\n * The file"), ("1 /* a", "1 /**< a"), ("/* Before <it>. */", "/** Before \\<it\\>. */"),
                          ("/* HPROF_A .. */", "/**< HPROF_A \\.\\. */"), ("/* [any] */", "/**< [any] */")):
    AFTER = AFTER.replace(plain, documented)

CPP_BEFORE = """// SPDX-License-Identifier: X
// The file.
// Goes on.
namespace n {
// A function.
inline void f() {
  // inside
}
enum E {
  kA,  // one
       // more
  kB,  // two
};
}  // namespace n
"""
CPP_AFTER = CPP_BEFORE
for plain, documented in (("// The file", "/// \\file %s\n/// The file"), ("// Goes", "/// Goes"), ("// A fun", "/// A fun"), ("// one", "///< one"),
                          ("// more", "///< more"), ("// two", "///< two")):
    CPP_AFTER = CPP_AFTER.replace(plain, documented)


class ApiDocs(unittest.TestCase):
    def filtered(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            code, out = script("../tools/manual/api-docs", "--filter", write(folder, name, text))
        self.assertEqual(code, 0, out)
        return out

    def test_comments_at_declarations(self):
        for name, before, after in (("a.h", BEFORE, AFTER), ("a.hpp", CPP_BEFORE, CPP_AFTER)):
            with self.subTest(name):
                out = self.filtered(name, before)
                path = out.split("\\file ", 1)[1].split("\n", 1)[0]
                self.assertEqual(out, after % path)


if __name__ == "__main__":
    unittest.main()
