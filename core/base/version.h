// The version of hprof: number, commit, and the plugin ABI that it offers.
#pragma once

namespace hprof {

// "hprof 1.0.0 (commit 1a2b3c4d5e6f), plugin ABI 1.0"; a build outside of a checkout has no commit.
extern const char kVersionText[];

}  // namespace hprof
