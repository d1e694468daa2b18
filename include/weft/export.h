// WEFT_API marks what libweft.so exports: `namespace weft WEFT_API {` opens every public header; the library hides all else.
#ifndef WEFT_EXPORT_H_
#define WEFT_EXPORT_H_

#define WEFT_API __attribute__((visibility("default")))

#endif  // WEFT_EXPORT_H_
