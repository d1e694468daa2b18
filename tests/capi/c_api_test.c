// Every part of weft/c_api.h that needs no other model than models/digits, whose path is the argument.
#define _POSIX_C_SOURCE 200809L
#include "weft/c_api.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, weft_last_error()); \
      ++failures;                                                               \
    }                                                                           \
  } while (0)

// The call fails with this code, and its message has this part.
#define REFUSED(code, part, call)                                               \
  do {                                                                          \
    CHECK((call) == (code));                                                    \
    CHECK(strstr(weft_last_error(), (part)) != NULL);                           \
  } while (0)

enum { kPixels = 28 * 28, kThreads = 4 };

static weft_value* wrap(float* data, int64_t a, int64_t b, int64_t c, int64_t d) {
  const int64_t dims[] = {a, b, c, d};
  weft_value* value = NULL;
  CHECK(weft_tensor_wrap(WEFT_FLOAT32, dims, 4, data, (size_t)(a * b * c * d) * sizeof(float), &value) == WEFT_OK);
  return value;
}

static weft_status run(const weft_session* session, const weft_run_options* options, const weft_value* image, weft_value** output) {
  const char* names[] = {"image"};
  return weft_session_run(session, options, names, &image, 1, NULL, output, 1);
}

static void test_types(void) {
  CHECK(strcmp(weft_version(), "0.") > 0);
  CHECK(strcmp(weft_dtype_name(WEFT_FLOAT32), "float") == 0);
  CHECK(strcmp(weft_dtype_name(WEFT_INT2), "int2") == 0);
  CHECK(weft_dtype_name(-1) == NULL && weft_dtype_name(99) == NULL);
  CHECK(weft_dtype_size(WEFT_INT64) == 8 && weft_dtype_size(WEFT_STRING) == 0 && weft_dtype_size(99) == 0);
}

static void test_tensors(void) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  const int64_t dims[] = {2, 3};
  weft_value* tensor = NULL;
  CHECK(weft_tensor_wrap(WEFT_FLOAT32, dims, 2, data, sizeof data, &tensor) == WEFT_OK);
  CHECK(weft_value_kind(tensor) == WEFT_KIND_TENSOR && weft_tensor_dtype(tensor) == WEFT_FLOAT32);
  CHECK(weft_tensor_data(tensor) == data);
  CHECK(weft_tensor_rank(tensor) == 2 && weft_tensor_dims(tensor)[1] == 3);
  CHECK(weft_tensor_size(tensor) == 6 && weft_tensor_bytes(tensor) == sizeof data);
  weft_value_free(tensor);

  tensor = (weft_value*)data;
  REFUSED(WEFT_USAGE, "float[2,3] takes 6 times 4 bytes, found 20", weft_tensor_wrap(WEFT_FLOAT32, dims, 2, data, 20, &tensor));
  CHECK(tensor == NULL);
  REFUSED(WEFT_USAGE, "'data' is NULL", weft_tensor_wrap(WEFT_FLOAT32, dims, 2, NULL, sizeof data, &tensor));
  REFUSED(WEFT_USAGE, "'dims' is NULL", weft_tensor_wrap(WEFT_FLOAT32, NULL, 2, data, sizeof data, &tensor));
  REFUSED(WEFT_USAGE, "'tensor' is NULL", weft_tensor_wrap(WEFT_FLOAT32, dims, 2, data, sizeof data, NULL));
  REFUSED(WEFT_USAGE, "99 is the number of no element type", weft_tensor_wrap(99, dims, 2, data, sizeof data, &tensor));
  REFUSED(WEFT_USAGE, "strings", weft_tensor_wrap(WEFT_STRING, dims, 2, data, sizeof data, &tensor));
  const int64_t negative[] = {-1}, huge[] = {INT64_C(1) << 40, INT64_C(1) << 40}, large[] = {INT64_C(1) << 60};
  REFUSED(WEFT_INVALID, "-1", weft_tensor_create(WEFT_FLOAT32, negative, 1, &tensor));
  CHECK(weft_tensor_create(WEFT_FLOAT32, huge, 2, &tensor) == WEFT_EXHAUSTED);
  CHECK(weft_tensor_create(WEFT_FLOAT32, large, 1, &tensor) == WEFT_EXHAUSTED);

  CHECK(weft_tensor_create(WEFT_INT64, NULL, 0, &tensor) == WEFT_OK);  // a scalar
  CHECK(weft_tensor_rank(tensor) == 0 && weft_tensor_size(tensor) == 1 && *(int64_t*)weft_tensor_data(tensor) == 0);
  weft_value_free(tensor);
  weft_value_free(NULL);
  CHECK(weft_value_kind(NULL) == WEFT_KIND_UNKNOWN && weft_tensor_data(NULL) == NULL && weft_tensor_size(NULL) == 0);
}

static void test_strings(void) {
  const int64_t dims[] = {2};
  weft_value* tensor = NULL;
  const char* text = NULL;
  size_t length = 0;
  CHECK(weft_tensor_create(WEFT_STRING, dims, 1, &tensor) == WEFT_OK);
  CHECK(weft_tensor_set_string(tensor, 1, "a\0b", 3) == WEFT_OK);
  CHECK(weft_tensor_get_string(tensor, 1, &text, &length) == WEFT_OK);
  CHECK(length == 3 && memcmp(text, "a\0b", 4) == 0);
  CHECK(weft_tensor_get_string(tensor, 0, &text, &length) == WEFT_OK);
  CHECK(length == 0 && text[0] == '\0');
  CHECK(weft_tensor_set_string(tensor, 1, NULL, 0) == WEFT_OK);
  CHECK(weft_tensor_data(tensor) == NULL && weft_tensor_bytes(tensor) == 0);
  REFUSED(WEFT_USAGE, "no element 2", weft_tensor_set_string(tensor, 2, "x", 1));
  REFUSED(WEFT_USAGE, "no tensor of strings", weft_tensor_get_string(NULL, 0, &text, &length));
  weft_value_free(tensor);
}

static void test_composites(void) {
  const int64_t dims[] = {2};
  weft_value *keys = NULL, *values = NULL, *map = NULL, *list = NULL, *none = NULL, *item = NULL, *back = NULL;
  CHECK(weft_tensor_create(WEFT_STRING, dims, 1, &keys) == WEFT_OK);
  CHECK(weft_tensor_create(WEFT_FLOAT32, dims, 1, &values) == WEFT_OK);
  CHECK(weft_map_create(keys, values, &map) == WEFT_OK && weft_value_kind(map) == WEFT_KIND_MAP);
  REFUSED(WEFT_INVALID, "a map is made of", weft_map_create(values, keys, &back));
  const weft_value* items[] = {map, map};
  CHECK(weft_sequence_create(WEFT_FLOAT32, items, 2, &list) == WEFT_OK);
  weft_value_free(map);
  weft_value_free(keys);
  CHECK(weft_value_kind(list) == WEFT_KIND_SEQUENCE && weft_value_item_count(list) == 2);
  CHECK(weft_value_item(list, 1, &item) == WEFT_OK);
  CHECK(weft_map_values(item, &back) == WEFT_OK);
  CHECK(weft_tensor_data(back) == weft_tensor_data(values));
  REFUSED(WEFT_USAGE, "no item 2", weft_value_item(list, 2, &keys));
  REFUSED(WEFT_USAGE, "no map", weft_map_keys(list, &keys));
  items[0] = values;
  REFUSED(WEFT_INVALID, "float, expected int64", weft_sequence_create(WEFT_INT64, items, 1, &keys));
  CHECK(weft_optional_create(WEFT_FLOAT32, NULL, &none) == WEFT_OK);
  CHECK(weft_value_kind(none) == WEFT_KIND_OPTIONAL && weft_value_item_count(none) == 0);
  weft_value_free(back);
  weft_value_free(item);
  weft_value_free(none);
  weft_value_free(list);
  weft_value_free(values);
}

static void test_options(const char* model) {
  weft_options* options = NULL;
  weft_session* session = NULL;
  CHECK(weft_options_create(&options) == WEFT_OK);
  REFUSED(WEFT_USAGE, "threads", weft_options_set_threads(options, -1));
  REFUSED(WEFT_USAGE, "0 to 3", weft_options_set_opt_level(options, 4));
  REFUSED(WEFT_USAGE, "'options' is NULL", weft_options_set_opt_level(NULL, 1));
  CHECK(weft_options_set_threads(options, 1) == WEFT_OK && weft_options_set_opt_level(options, 0) == WEFT_OK);
  CHECK(weft_options_set_strict_math(options, 1) == WEFT_OK && weft_options_set_reference_kernels(options, 1) == WEFT_OK);
  CHECK(weft_session_load(model, options, &session) == WEFT_OK);
  weft_session_free(session);

  CHECK(weft_options_set_memory_limit(options, 16) == WEFT_OK);
  CHECK(weft_session_load(model, options, &session) == WEFT_OK);
  static float pixels[kPixels];
  weft_value *image = wrap(pixels, 1, 1, 28, 28), *output = NULL;
  REFUSED(WEFT_EXHAUSTED, "limit is 16", run(session, NULL, image, &output));
  weft_value_free(image);
  weft_session_free(session);

  CHECK(weft_options_set_device(options, "tpu") == WEFT_OK);
  REFUSED(WEFT_UNSUPPORTED, "tpu", weft_session_load(model, options, &session));
  CHECK(session == NULL);
  weft_options_free(options);
  CHECK(weft_options_create(&options) == WEFT_OK);
  CHECK(weft_options_disable_pass(options, "no-such-pass") == WEFT_OK);
  REFUSED(WEFT_INVALID, "no-such-pass", weft_session_load(model, options, &session));
  weft_options_free(options);
  weft_options_free(NULL);
  weft_session_free(NULL);
}

static void test_session(const weft_session* session) {
  CHECK(weft_session_input_count(session) == 1 && weft_session_output_count(session) == 1);
  const weft_value_info* image = weft_session_input(session, 0);
  CHECK(strcmp(weft_value_info_name(image), "image") == 0);
  CHECK(strcmp(weft_value_info_type(image), "float[N,1,28,28]") == 0);
  CHECK(weft_value_info_kind(image) == WEFT_KIND_TENSOR && weft_value_info_dtype(image) == WEFT_FLOAT32);
  CHECK(weft_value_info_rank(image) == 4 && weft_value_info_dim(image, 0) == -1 && weft_value_info_dim(image, 3) == 28);
  CHECK(strcmp(weft_value_info_dim_text(image, 0), "N") == 0 && strcmp(weft_value_info_dim_text(image, 3), "28") == 0);
  CHECK(weft_value_info_dim(image, 4) == -1 && weft_value_info_dim_text(image, 4) == NULL);
  CHECK(!weft_value_info_has_default(image));
  CHECK(strcmp(weft_value_info_name(weft_session_output(session, 0)), "probabilities") == 0);
  CHECK(weft_session_input(session, 1) == NULL && weft_session_input(NULL, 0) == NULL && weft_session_input_count(NULL) == 0);
  CHECK(weft_value_info_name(NULL) == NULL && weft_value_info_rank(NULL) == -1);
}

static void test_runs(const weft_session* session) {
  static float pixels[2 * kPixels];
  weft_value *image = wrap(pixels, 1, 1, 28, 28), *output = NULL;
  CHECK(run(session, NULL, image, &output) == WEFT_OK);
  CHECK(weft_tensor_rank(output) == 2 && weft_tensor_dims(output)[0] == 1 && weft_tensor_dims(output)[1] == 10);
  float sum = 0;
  for (int i = 0; i < 10; ++i) sum += ((const float*)weft_tensor_data(output))[i];
  CHECK(fabsf(sum - 1) < 1e-5f);

  // Into memory of ours, under a name; the image changes where it is.
  float probabilities[10] = {0};
  const int64_t dims[] = {1, 10};
  weft_value* place = NULL;
  CHECK(weft_tensor_wrap(WEFT_FLOAT32, dims, 2, probabilities, sizeof probabilities, &place) == WEFT_OK);
  const char *in[] = {"image", "image"}, *out[] = {"probabilities", "probabilities"};
  const weft_value* inputs[] = {image, image};
  weft_value* outputs[] = {place, place};
  CHECK(weft_session_run(session, NULL, in, inputs, 1, out, outputs, 1) == WEFT_OK);
  CHECK(outputs[0] == place && memcmp(probabilities, weft_tensor_data(output), sizeof probabilities) == 0);
  for (int i = 0; i < kPixels; ++i) pixels[i] = (float)(i % 28 == 14);
  CHECK(weft_session_run(session, NULL, in, inputs, 1, out, outputs, 1) == WEFT_OK);
  CHECK(memcmp(probabilities, weft_tensor_data(output), sizeof probabilities) != 0);

  REFUSED(WEFT_INVALID, "twice", weft_session_run(session, NULL, in, inputs, 2, out, outputs, 1));
  REFUSED(WEFT_INVALID, "two memories", weft_session_run(session, NULL, in, inputs, 1, out, outputs, 2));
  outputs[1] = NULL;
  REFUSED(WEFT_USAGE, "1 outputs, found room for 2", weft_session_run(session, NULL, in, inputs, 1, NULL, outputs, 2));
  out[1] = "logits";
  REFUSED(WEFT_INVALID, "no output 'logits'", weft_session_run(session, NULL, in, inputs, 1, out, outputs, 2));
  CHECK(outputs[0] == place && outputs[1] == NULL);
  in[0] = "picture";
  REFUSED(WEFT_INVALID, "no input 'picture', expected one of 'image'", weft_session_run(session, NULL, in, inputs, 1, out, outputs, 1));
  in[0] = NULL;
  REFUSED(WEFT_USAGE, "'input_names[i]' is NULL", weft_session_run(session, NULL, in, inputs, 1, out, outputs, 1));
  REFUSED(WEFT_USAGE, "'session' is NULL", run(NULL, NULL, image, &output));
  REFUSED(WEFT_INVALID, "'image' is missing", weft_session_run(session, NULL, NULL, NULL, 0, NULL, outputs, 1));

  weft_value *two = wrap(pixels, 2, 1, 28, 28), *flat = wrap(pixels, 1, 28, 28, 1);
  REFUSED(WEFT_INVALID, "output 'probabilities' is float[2,10], but the memory given for it float[1,10]", run(session, NULL, two, outputs));
  REFUSED(WEFT_INVALID, "found float[1,28,28,1], expected float[N,1,28,28]", run(session, NULL, flat, outputs));
  weft_value_free(two);
  weft_value_free(flat);
  weft_value_free(place);
  weft_value_free(output);
  weft_value_free(image);
}

static void test_limits(const weft_session* session) {
  static float pixels[kPixels];
  weft_value *image = wrap(pixels, 1, 1, 28, 28), *output = NULL;
  weft_run_options* options = NULL;
  CHECK(weft_run_options_create(&options) == WEFT_OK);
  CHECK(weft_run_options_set_seed(options, 7) == WEFT_OK);
  CHECK(weft_run_options_set_cancelled(options, 1) == WEFT_OK);
  REFUSED(WEFT_CANCELLED, "cancelled", run(session, options, image, &output));
  CHECK(weft_run_options_set_cancelled(options, 0) == WEFT_OK);
  CHECK(weft_run_options_set_time_limit(options, 1e-9) == WEFT_OK);
  REFUSED(WEFT_CANCELLED, "deadline", run(session, options, image, &output));
  CHECK(output == NULL);
  CHECK(weft_run_options_set_time_limit(options, 1e300) == WEFT_OK);
  CHECK(run(session, options, image, &output) == WEFT_OK);
  REFUSED(WEFT_USAGE, "time limit", weft_run_options_set_time_limit(options, NAN));
  weft_value_free(output);
  weft_value_free(image);
  weft_run_options_free(options);
  weft_run_options_free(NULL);
}

static void test_loading(const char* model, weft_session** session) {
  REFUSED(WEFT_INVALID, "no-such-file.onnx", weft_session_load("no-such-file.onnx", NULL, session));
  REFUSED(WEFT_USAGE, "'path' is NULL", weft_session_load(NULL, NULL, session));
  REFUSED(WEFT_INVALID, "", weft_session_load_from_memory("not a model", 11, NULL, NULL, session));
  CHECK(*session == NULL);

  FILE* file = fopen(model, "rb");
  CHECK(file != NULL);
  if (file == NULL) return;
  static char bytes[1 << 20];
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  CHECK(weft_session_load_from_memory(bytes, size, NULL, NULL, session) == WEFT_OK);
  memset(bytes, 0, sizeof bytes);  // the session has a copy
}

struct Job {
  const weft_session* session;
  int row;  // of the image that is white
  int wrong;
};

static void* run_many(void* argument) {
  struct Job* job = argument;
  float* pixels = calloc(kPixels, sizeof *pixels);
  for (int x = 0; x < 28; ++x) pixels[job->row * 28 + x] = 1;
  weft_value *image = wrap(pixels, 1, 1, 28, 28), *first = NULL;
  job->wrong = run(job->session, NULL, image, &first) != WEFT_OK;
  for (int i = 0; i < 20 && !job->wrong; ++i) {
    weft_value* again = NULL;
    job->wrong = run(job->session, NULL, image, &again) != WEFT_OK || memcmp(weft_tensor_data(first), weft_tensor_data(again), 40) != 0;
    weft_value_free(again);
    // Each thread has its own last error.
    weft_value* none = NULL;
    job->wrong |= weft_tensor_create(100 + job->row, NULL, 0, &none) != WEFT_USAGE || atoi(weft_last_error()) != 100 + job->row;
  }
  weft_value_free(first);
  weft_value_free(image);
  free(pixels);
  return NULL;
}

static void test_threads(const weft_session* session) {
  pthread_t threads[kThreads];
  struct Job jobs[kThreads];
  for (int t = 0; t < kThreads; ++t) {
    jobs[t] = (struct Job){session, 3 + 5 * t, 0};
    CHECK(pthread_create(&threads[t], NULL, run_many, &jobs[t]) == 0);
  }
  for (int t = 0; t < kThreads; ++t) {
    CHECK(pthread_join(threads[t], NULL) == 0);
    CHECK(!jobs[t].wrong);
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  CHECK(weft_last_error()[0] == '\0');
  test_types();
  test_tensors();
  test_strings();
  test_composites();
  test_options(argv[1]);
  weft_session* session = NULL;
  test_loading(argv[1], &session);
  if (session != NULL) {
    test_session(session);
    test_runs(session);
    test_limits(session);
    test_threads(session);
  }
  weft_session_free(session);
  printf("%d failures\n", failures);
  return failures != 0;
}
