// Tells which digit an image shows.
//
//   example_classify models/digits/model.onnx models/digits/sample.npy
#include <weft/weft.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <vector>

// The 28x28 floats of a .npy file, which stand at its end.
static std::vector<float> ReadImage(const char* path) {
  std::vector<float> pixels(28 * 28);
  const std::streamoff bytes = static_cast<std::streamoff>(pixels.size() * sizeof(float));
  std::ifstream file(path, std::ios::binary);
  file.seekg(-bytes, std::ios::end);
  file.read(reinterpret_cast<char*>(pixels.data()), bytes);
  if (!file) pixels.clear();
  return pixels;
}

static absl::Status Classify(const char* model, std::vector<float> pixels) {
  absl::StatusOr<weft::Session> session = weft::Session::Load(model);
  if (!session.ok()) return session.status();

  // The pixels are read where they are: nothing is copied.
  const weft::Tensor image = weft::Tensor::View<float>(pixels.data(), {1, 1, 28, 28});  // [N,1,28,28]
  absl::StatusOr<weft::ValueMap> outputs = session->Run({{"image", image}});
  if (!outputs.ok()) return outputs.status();

  const absl::Span<const float> p = outputs->at("probabilities").tensor().span<float>();  // [N,10]
  const auto best = std::max_element(p.begin(), p.end());
  std::printf("this is a %d, with probability %.4f\n", static_cast<int>(best - p.begin()), *best);
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s MODEL IMAGE.npy\n", argv[0]);
    return 2;
  }
  std::vector<float> pixels = ReadImage(argv[2]);
  if (pixels.empty()) {
    std::fprintf(stderr, "%s has no 28x28 floats\n", argv[2]);
    return 1;
  }
  const absl::Status status = Classify(argv[1], std::move(pixels));
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
