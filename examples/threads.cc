// Several threads on one session, each with an image and a place for the probabilities of its own, bound once and used for many runs.
//
//   example_threads models/digits/model.onnx models/digits/sample.npy
#include <weft/weft.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <thread>
#include <vector>

constexpr int kThreads = 4, kRuns = 100;

struct Work {
  std::vector<float> image = std::vector<float>(28 * 28);  // [1,1,28,28]
  std::array<float, 10> probabilities = {};                // [1,10]
  absl::Status status;
};

static absl::Status RunMany(const weft::Session& session, Work& work) {
  absl::StatusOr<weft::Binding> binding = session.Bind({{"image", weft::Tensor::View<float>(work.image.data(), {1, 1, 28, 28})}},
                                                       {{"probabilities", weft::Tensor::View<float>(work.probabilities.data(), {1, 10})}});
  if (!binding.ok()) return binding.status();
  for (int run = 0; run < kRuns; ++run) {
    // Here the next image would be put where the last one was.
    const absl::StatusOr<weft::ValueMap> outputs = binding->Run();
    if (!outputs.ok()) return outputs.status();
  }
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s MODEL IMAGE.npy\n", argv[0]);
    return 2;
  }
  // All runs share these two threads of the machine; a run waits while there is none for it.
  absl::StatusOr<weft::Session> session = weft::Session::Load(argv[1], {.threads = 2});
  if (!session.ok()) {
    std::fprintf(stderr, "%s\n", session.status().ToString().c_str());
    return 1;
  }
  std::array<Work, kThreads> works;
  for (Work& work : works) {
    const std::streamoff bytes = static_cast<std::streamoff>(work.image.size() * sizeof(float));
    std::ifstream file(argv[2], std::ios::binary);
    file.seekg(-bytes, std::ios::end);  // the pixels stand at the end of a .npy file
    file.read(reinterpret_cast<char*>(work.image.data()), bytes);
  }

  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (Work& work : works) {
    threads.emplace_back([&session, &work] { work.status = RunMany(*session, work); });
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  for (const Work& work : works) {
    if (!work.status.ok()) std::fprintf(stderr, "%s\n", work.status.ToString().c_str());
    if (!work.status.ok() || std::abs(work.probabilities[2] - works[0].probabilities[2]) > 1e-5f) return 1;
  }
  std::printf("%d threads agree: probability of a 2 is %.4f; %.0f runs a second\n", kThreads, works[0].probabilities[2],
              kThreads * kRuns / seconds.count());
  return 0;
}
