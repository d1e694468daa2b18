// The version of this library.
#ifndef WEFT_VERSION_H_
#define WEFT_VERSION_H_

#define WEFT_VERSION "0.1.0"

#endif  // WEFT_VERSION_H_
