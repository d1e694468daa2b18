// Runs models/digits on a blank image: the ten probabilities must sum to one.
#include <weft/weft.h>

#include <cmath>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  absl::StatusOr<weft::Session> session = weft::Session::Load(argv[1], {.device = "cpu", .threads = 1});
  if (!session.ok()) {
    std::fprintf(stderr, "%s\n", session.status().ToString().c_str());
    return 1;
  }
  std::vector<float> image(28 * 28);
  absl::StatusOr<weft::ValueMap> outputs = session->Run({{"image", weft::Tensor::View<float>(image.data(), {1, 1, 28, 28})}});
  if (!outputs.ok()) {
    std::fprintf(stderr, "%s\n", outputs.status().ToString().c_str());
    return 1;
  }
  float sum = 0;
  for (const float p : outputs->at("probabilities").tensor().span<float>()) sum += p;
  std::printf("Weft %s: probabilities of %s sum to %f\n", WEFT_VERSION, session->inputs()[0].name.c_str(), sum);
  return std::abs(sum - 1) < 1e-5f ? 0 : 1;
}
