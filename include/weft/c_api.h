// Weft's interface for C, and for every language that can call C. Needs nothing but this header, export.h and libweft.so.
//
//   weft_session* session = NULL;
//   if (weft_session_load("model.onnx", NULL, &session) != WEFT_OK) fail(weft_last_error());
//   const int64_t dims[] = {1, 3, 224, 224};
//   weft_value* x = NULL;
//   weft_tensor_wrap(WEFT_FLOAT32, dims, 4, pixels, sizeof pixels, &x);          // reads the pixels where they are
//   const char* names[] = {"x"};
//   const weft_value* inputs[] = {x};
//   weft_value* outputs[] = {NULL};
//   weft_session_run(session, NULL, names, inputs, 1, NULL, outputs, 1);          // every call is checked like the first
//
// Errors. What can fail returns a weft_status; weft_last_error says what was wrong, one line. No call aborts and none throws.
// Ownership. What a call hands out through a pointer to a pointer is the caller's, to be freed with the _free of its type, which takes
// NULL; it is NULL after an error. Everything else that a call returns belongs to what it was asked of, and lives as long.
// Strings are UTF-8 and end with a zero byte, unless a length is given. Sizes of tensors are in elements, of memory in bytes.
// Threads. A session may be run by many threads at once. Any other handle may be read by many threads, or changed by one.
#ifndef WEFT_C_API_H_
#define WEFT_C_API_H_

#include <stddef.h>
#include <stdint.h>

#include "weft/export.h"

#ifdef __cplusplus
extern "C" {
#endif

// The same numbers as infer-cli's exit codes.
typedef enum weft_status {
  WEFT_OK = 0,
  WEFT_USAGE = 2,        // a call that no model could make right: a null pointer, an index out of range, a value of another kind
  WEFT_INVALID = 3,      // the model, an input or the memory for an output
  WEFT_UNSUPPORTED = 4,  // an operator, a type, a device
  WEFT_EXHAUSTED = 5,    // a limit or memory ran out
  WEFT_CANCELLED = 6,    // or past its time limit
  WEFT_BUG = 70          // one of ours
} weft_status;

// Element types, numbered as ONNX's TensorProto.DataType.
typedef int32_t weft_dtype;
enum {
  WEFT_UNDEFINED = 0,
  WEFT_FLOAT32 = 1,
  WEFT_UINT8 = 2,
  WEFT_INT8 = 3,
  WEFT_UINT16 = 4,
  WEFT_INT16 = 5,
  WEFT_INT32 = 6,
  WEFT_INT64 = 7,
  WEFT_STRING = 8,
  WEFT_BOOL = 9,  // one byte, 0 or 1
  WEFT_FLOAT16 = 10,
  WEFT_FLOAT64 = 11,
  WEFT_UINT32 = 12,
  WEFT_UINT64 = 13,
  WEFT_COMPLEX64 = 14,
  WEFT_COMPLEX128 = 15,
  WEFT_BFLOAT16 = 16,
  WEFT_FLOAT8E4M3FN = 17,
  WEFT_FLOAT8E4M3FNUZ = 18,
  WEFT_FLOAT8E5M2 = 19,
  WEFT_FLOAT8E5M2FNUZ = 20,
  WEFT_UINT4 = 21,  // types of less than a byte: an element a byte, in its low bits, sign-extended
  WEFT_INT4 = 22,
  WEFT_FLOAT4E2M1 = 23,
  WEFT_FLOAT8E8M0 = 24,
  WEFT_UINT2 = 25,
  WEFT_INT2 = 26
};

typedef enum weft_kind { WEFT_KIND_UNKNOWN, WEFT_KIND_TENSOR, WEFT_KIND_SEQUENCE, WEFT_KIND_OPTIONAL, WEFT_KIND_MAP } weft_kind;

typedef struct weft_options weft_options;          // how a model is compiled
typedef struct weft_session weft_session;          // a model compiled for this machine
typedef struct weft_value_info weft_value_info;    // an input or output of a model
typedef struct weft_value weft_value;              // a tensor, sequence, optional or map
typedef struct weft_run_options weft_run_options;  // limits of a run

// "0.1.0"
WEFT_API const char* weft_version(void);
// What was wrong with the last call of this thread that failed; "" before the first. Valid until the next one that fails.
WEFT_API const char* weft_last_error(void);
// ONNX's word for it, "float" for WEFT_FLOAT32; NULL for a number that is no type.
WEFT_API const char* weft_dtype_name(weft_dtype dtype);
// Bytes that one element takes; 0 for WEFT_STRING and for a number that is no type.
WEFT_API size_t weft_dtype_size(weft_dtype dtype);

// Options of a session, see infer-cli run --help; what is not set keeps its default.
WEFT_API weft_status weft_options_create(weft_options** options);
WEFT_API void weft_options_free(weft_options* options);
WEFT_API weft_status weft_options_set_device(weft_options* options, const char* device);
WEFT_API weft_status weft_options_set_threads(weft_options* options, int threads);  // that all runs share; 0: as many as this process may use
WEFT_API weft_status weft_options_set_opt_level(weft_options* options, int level);  // 0: no passes; 3: all (default)
WEFT_API weft_status weft_options_disable_pass(weft_options* options, const char* pass);
WEFT_API weft_status weft_options_set_strict_math(weft_options* options, int strict);          // only passes that change no bit of a result
WEFT_API weft_status weft_options_set_reference_kernels(weft_options* options, int reference);  // only the plain kernels
WEFT_API weft_status weft_options_set_memory_limit(weft_options* options, int64_t bytes);       // of the memory planned for a run; 0: none

// Loads and compiles an ONNX model; options may be NULL. Data that the file keeps in others is looked for beneath its folder.
WEFT_API weft_status weft_session_load(const char* path, const weft_options* options, weft_session** session);
// The same from `size` bytes in memory, which are copied. Data in other files is looked for beneath `base_dir`; NULL: refused.
WEFT_API weft_status weft_session_load_from_memory(const void* bytes, size_t size, const char* base_dir, const weft_options* options,
                                                   weft_session** session);
WEFT_API void weft_session_free(weft_session* session);

// In the model's order; inputs with a default come last. NULL for an index out of range.
WEFT_API size_t weft_session_input_count(const weft_session* session);
WEFT_API size_t weft_session_output_count(const weft_session* session);
WEFT_API const weft_value_info* weft_session_input(const weft_session* session, size_t index);
WEFT_API const weft_value_info* weft_session_output(const weft_session* session, size_t index);

WEFT_API const char* weft_value_info_name(const weft_value_info* info);
WEFT_API const char* weft_value_info_type(const weft_value_info* info);  // ONNX's text: "float[N,3,224,224]", "seq(map(int64, float))"
WEFT_API weft_kind weft_value_info_kind(const weft_value_info* info);
WEFT_API weft_dtype weft_value_info_dtype(const weft_value_info* info);  // of a tensor; WEFT_UNDEFINED else
WEFT_API int weft_value_info_rank(const weft_value_info* info);          // of a tensor; -1 where the model leaves it open
// The size of an axis; -1 where it may differ from run to run, or there is no such axis.
WEFT_API int64_t weft_value_info_dim(const weft_value_info* info, size_t axis);
// The same as text: "3", "N", "2*N + 1"; NULL where there is no such axis.
WEFT_API const char* weft_value_info_dim_text(const weft_value_info* info, size_t axis);
WEFT_API int weft_value_info_has_default(const weft_value_info* info);  // 1: a run may leave this input out

// A tensor on the caller's memory, row-major, which must outlive the value and every value made from it. `bytes` of it are there: at least
// what the dims take. Not for WEFT_STRING. `dims` may be NULL where rank is 0 (a scalar).
WEFT_API weft_status weft_tensor_wrap(weft_dtype dtype, const int64_t* dims, size_t rank, void* data, size_t bytes, weft_value** tensor);
// A tensor with memory of its own, all zeros or empty strings.
WEFT_API weft_status weft_tensor_create(weft_dtype dtype, const int64_t* dims, size_t rank, weft_value** tensor);
WEFT_API void weft_value_free(weft_value* value);

WEFT_API weft_kind weft_value_kind(const weft_value* value);
// Of a tensor. Of other values: WEFT_UNDEFINED, 0 and NULL.
WEFT_API weft_dtype weft_tensor_dtype(const weft_value* tensor);
WEFT_API size_t weft_tensor_rank(const weft_value* tensor);
WEFT_API const int64_t* weft_tensor_dims(const weft_value* tensor);  // weft_tensor_rank of them
WEFT_API size_t weft_tensor_size(const weft_value* tensor);          // elements
WEFT_API size_t weft_tensor_bytes(const weft_value* tensor);         // bytes; 0 for strings
WEFT_API void* weft_tensor_data(const weft_value* tensor);           // the elements; NULL for strings
// One element of a tensor of strings, by its place in row-major order. It may hold zero bytes.
WEFT_API weft_status weft_tensor_set_string(weft_value* tensor, size_t index, const char* text, size_t length);
// `text` also ends with a zero byte; it lives until the element is set or the tensor is freed.
WEFT_API weft_status weft_tensor_get_string(const weft_value* tensor, size_t index, const char** text, size_t* length);

// A sequence of values of one kind whose tensors have elements of `dtype`. What it is made of may be freed; memory is shared, not copied.
WEFT_API weft_status weft_sequence_create(weft_dtype dtype, const weft_value* const* items, size_t count, weft_value** sequence);
// `item` NULL: an optional that holds nothing.
WEFT_API weft_status weft_optional_create(weft_dtype dtype, const weft_value* item, weft_value** optional);
// `keys`, strings or integers, and `values` are tensors of one axis and equal size.
WEFT_API weft_status weft_map_create(const weft_value* keys, const weft_value* values, weft_value** map);
// Items of a sequence; 0 or 1 of an optional; 0 for other values.
WEFT_API size_t weft_value_item_count(const weft_value* value);
WEFT_API weft_status weft_value_item(const weft_value* value, size_t index, weft_value** item);  // shares memory with `value`
WEFT_API weft_status weft_map_keys(const weft_value* map, weft_value** keys);
WEFT_API weft_status weft_map_values(const weft_value* map, weft_value** values);

WEFT_API weft_status weft_run_options_create(weft_run_options** options);
WEFT_API void weft_run_options_free(weft_run_options* options);
WEFT_API weft_status weft_run_options_set_seed(weft_run_options* options, uint64_t seed);  // of random operators without one of their own
WEFT_API weft_status weft_run_options_set_time_limit(weft_run_options* options, double seconds);  // of each run; 0: none
// 1 stops the runs with these options soon, and those to come, until it is set to 0. From any thread, while runs use the options.
WEFT_API weft_status weft_run_options_set_cancelled(weft_run_options* options, int cancelled);

// Runs the model; options may be NULL. Every input without a default is given by its name. `output_names` may be NULL: all outputs, in the
// model's order. `outputs[i]`, where NULL, becomes a new value with memory of its own. Where it is a tensor, the output is written to the
// memory of that tensor, in place as a rule (docs/api.md), and must have its type and dims; that memory overlaps no input and no other
// output. After an error the entries of `outputs` are what they were, and what is in such a tensor is undefined.
WEFT_API weft_status weft_session_run(const weft_session* session, const weft_run_options* options, const char* const* input_names,
                                      const weft_value* const* inputs, size_t input_count, const char* const* output_names,
                                      weft_value** outputs, size_t output_count);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // WEFT_C_API_H_
