// Every file tests/passes/PASS.txt holds golden cases of the pass of that name. UPDATE_GOLDEN=1 rewrites them.
#include "../golden/golden.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kernels/evaluate.h"
#include "passes/pipeline.h"

namespace weft {
namespace {

std::vector<std::string> GoldenFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/tests/passes")) {
    if (entry.path().extension() == ".txt" && entry.path().filename() != "CMakeLists.txt")
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class PassGoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(PassGoldenTest, GivesTheText) {
  const Pass* pass = FindPass(std::filesystem::path(GetParam()).stem().string());
  ASSERT_NE(pass, nullptr) << GetParam() << " is named after no pass";
  const auto golden = RunGolden(
      GetParam(),
      {.run = [&](Graph& graph) { return RunPass(*pass, graph, &Evaluate).status(); }, .numeric = pass->numeric},
      UpdateGolden());
  ASSERT_TRUE(golden.ok()) << golden.status();
  EXPECT_TRUE(golden->failures.empty()) << absl::StrJoin(golden->failures, "\n");
  EXPECT_GE(golden->cases, 2) << "a pass is shown where it changes something and where it must not";
}

INSTANTIATE_TEST_SUITE_P(All, PassGoldenTest, testing::ValuesIn(GoldenFiles()), [](const auto& info) {
  std::string name = std::filesystem::path(info.param).stem();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PassGoldenTest);

}  // namespace
}  // namespace weft
