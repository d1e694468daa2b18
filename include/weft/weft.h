// All of Weft's C++ interface. The C interface is weft/c_api.h.
#ifndef WEFT_WEFT_H_
#define WEFT_WEFT_H_

#include "weft/dtype.h"    // IWYU pragma: export
#include "weft/session.h"  // IWYU pragma: export
#include "weft/tensor.h"   // IWYU pragma: export
#include "weft/value.h"    // IWYU pragma: export
#include "weft/version.h"  // IWYU pragma: export

#endif  // WEFT_WEFT_H_
