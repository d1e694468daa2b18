// Runs models/digits on a blank image.
#include <stdio.h>
#include <weft/c_api.h>

int main(int argc, char** argv) {
  if (argc != 2) return WEFT_USAGE;
  static float pixels[28 * 28];
  const int64_t dims[] = {1, 1, 28, 28};
  const char* name = "image";
  weft_session* session = NULL;
  weft_value *image = NULL, *probabilities = NULL;
  weft_status status = weft_session_load(argv[1], NULL, &session);
  if (status == WEFT_OK) status = weft_tensor_wrap(WEFT_FLOAT32, dims, 4, pixels, sizeof pixels, &image);
  if (status == WEFT_OK) {
    const weft_value* input = image;
    status = weft_session_run(session, NULL, &name, &input, 1, NULL, &probabilities, 1);
  }
  if (status == WEFT_OK) {
    printf("Weft %s: %zu probabilities\n", weft_version(), weft_tensor_size(probabilities));
  } else {
    fprintf(stderr, "%s\n", weft_last_error());
  }
  weft_value_free(probabilities);
  weft_value_free(image);
  weft_session_free(session);
  return (int)status;
}
