// Tells which digit an image shows, in C.
//
//   example_classify_c models/digits/model.onnx models/digits/sample.npy
#include <stdio.h>
#include <weft/c_api.h>

enum { kPixels = 28 * 28, kDigits = 10 };

// The 28x28 floats of a .npy file, which stand at its end.
static int read_image(const char* path, float* pixels) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return 0;
  const int ok = fseek(file, -(long)(kPixels * sizeof *pixels), SEEK_END) == 0 && fread(pixels, sizeof *pixels, kPixels, file) == kPixels;
  fclose(file);
  return ok;
}

// The probabilities are written into memory of ours.
static weft_status classify(const weft_session* session, float* pixels, float* probabilities) {
  const int64_t image_dims[] = {1, 1, 28, 28}, output_dims[] = {1, kDigits};
  weft_value *image = NULL, *output = NULL;
  weft_status status = weft_tensor_wrap(WEFT_FLOAT32, image_dims, 4, pixels, kPixels * sizeof *pixels, &image);
  if (status == WEFT_OK) status = weft_tensor_wrap(WEFT_FLOAT32, output_dims, 2, probabilities, kDigits * sizeof *probabilities, &output);
  if (status == WEFT_OK) {
    const char *input_names[] = {"image"}, *output_names[] = {"probabilities"};
    const weft_value* inputs[] = {image};
    weft_value* outputs[] = {output};
    status = weft_session_run(session, NULL, input_names, inputs, 1, output_names, outputs, 1);
  }
  weft_value_free(output);
  weft_value_free(image);
  return status;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODEL IMAGE.npy\n", argv[0]);
    return 2;
  }
  static float pixels[kPixels], probabilities[kDigits];
  if (!read_image(argv[2], pixels)) {
    fprintf(stderr, "%s has no 28x28 floats\n", argv[2]);
    return 1;
  }
  weft_session* session = NULL;
  weft_status status = weft_session_load(argv[1], NULL, &session);
  if (status == WEFT_OK) status = classify(session, pixels, probabilities);
  weft_session_free(session);
  if (status != WEFT_OK) {
    fprintf(stderr, "%s\n", weft_last_error());
    return (int)status;
  }
  int best = 0;
  for (int digit = 1; digit < kDigits; ++digit) {
    if (probabilities[digit] > probabilities[best]) best = digit;
  }
  printf("this is a %d, with probability %.4f\n", best, probabilities[best]);
  return 0;
}
