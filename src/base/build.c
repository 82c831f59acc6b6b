/* The identity of this build of libviaduct; see build.h. Alone in its file, for it is compiled at each change. */
#include "base/build.h"
#include "build_id.h"

const char vbase_build_id[] = BUILD_ID;
