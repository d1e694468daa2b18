#include "weft/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/float_types.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kHuge = int64_t{1} << 50;

bool IsAligned(const Tensor& t) { return reinterpret_cast<uintptr_t>(t.data()) % 64 == 0; }

TEST(NumElements, MultipliesOrSaysWhyNot) {
  EXPECT_EQ(*NumElements({}), 1);
  EXPECT_EQ(*NumElements({2, 3, 4}), 24);
  EXPECT_EQ(*NumElements({kHuge, 0, kHuge}), 0);
  EXPECT_EQ(*NumElements({INT64_MAX}), INT64_MAX);
  EXPECT_EQ(NumElements({2, -1}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(NumElements({-1, 0}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(NumElements({kHuge, kHuge}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(NumElements({2, -1}).status().message()), HasSubstr("[2,-1]"));
}

TEST(DimsToString, Prints) {
  EXPECT_EQ(DimsToString({}), "[]");
  EXPECT_EQ(DimsToString({1, 3, 224}), "[1,3,224]");
}

TEST(Tensor, AllocatesZeroedAndAligned) {
  for (int i = 1; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    for (const Dims& dims : {Dims{}, Dims{0}, Dims{3, 0, 5}, Dims{7}, Dims{33, 129}}) {
      const auto t = Tensor::Allocate(dtype, dims);
      ASSERT_TRUE(t.ok()) << t.status();
      EXPECT_EQ(t->dtype(), dtype);
      EXPECT_EQ(t->dims(), dims);
      EXPECT_EQ(t->size(), *NumElements(dims));
      EXPECT_EQ(t->bytes(), t->size() * DTypeSize(dtype));
      EXPECT_TRUE(IsAligned(*t));
      EXPECT_NE(t->data(), nullptr);
      if (dtype == DType::kString) {
        for (const std::string& s : t->span<std::string>()) EXPECT_EQ(s, "");
      } else {
        for (size_t b = 0; b < t->bytes(); ++b) ASSERT_EQ(t->data<uint8_t>()[b], 0);
      }
      EXPECT_TRUE(IsAligned(*Tensor::AllocateUninitialized(dtype, dims)));
    }
  }
}

TEST(Tensor, RefusesWhatCannotBeHad) {
  for (auto* allocate : {&Tensor::Allocate, &Tensor::AllocateUninitialized}) {
    for (DType dtype : {DType::kFloat32, DType::kInt4, DType::kComplex128, DType::kString}) {
      for (const Dims& dims : {Dims{kHuge}, Dims{INT64_MAX}, Dims{kHuge, kHuge}, Dims{1 << 20, 1 << 20, 1 << 20}}) {
        const absl::Status status = allocate(dtype, dims).status();
        EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << DimsToString(dims);
        EXPECT_THAT(std::string(status.message()), HasSubstr(DimsToString(dims)));
      }
      EXPECT_EQ(allocate(dtype, {2, -3}).status().code(), absl::StatusCode::kInvalidArgument);
    }
    EXPECT_EQ(allocate(DType::kUndefined, {2}).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(std::string(Tensor::Allocate(DType::kFloat32, {kHuge}).status().message()),
              HasSubstr("4503599627370496 bytes"));
}

TEST(Tensor, StringsLiveAsLongAsTheHandles) {
  const std::string text(100, 'x');  // too long to lie within the std::string
  Tensor copy;
  {
    Tensor t = *Tensor::Allocate(DType::kString, {2, 2});
    for (std::string& s : t.span<std::string>()) s = text;
    copy = t.Reshaped({4});
  }
  EXPECT_EQ(copy.data<std::string>()[3], text);
  const Tensor clone = *copy.Clone();
  copy.data<std::string>()[3] = "";
  EXPECT_EQ(clone.data<std::string>()[3], text);
}

TEST(Tensor, OfScalarAndView) {
  const Tensor t = Tensor::Of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(t.dtype(), DType::kInt32);
  EXPECT_EQ(t.rank(), 2);
  EXPECT_EQ(t.dim(1), 3);
  EXPECT_EQ(t.data<int32_t>()[5], 6);
  EXPECT_EQ(Tensor::Scalar<std::string>("one").data<std::string>()[0], "one");
  EXPECT_EQ(Tensor::Scalar(Float16(1.5f)).data<uint16_t>()[0], 0x3e00);
  EXPECT_EQ(Tensor::Scalar(BFloat16(1.5f)).dtype(), DType::kBFloat16);
  EXPECT_TRUE(Tensor::Scalar(true).data<bool>()[0]);

  std::vector<double> mine = {1, 2};
  const Tensor view = Tensor::View(mine.data(), {2});
  view.data<double>()[1] = 7;
  EXPECT_EQ(mine[1], 7);
  EXPECT_EQ(view.owner(), nullptr);
}

TEST(TensorDeathTest, OfCountsItsValues) {
  EXPECT_DEATH(Tensor::Of<float>({2, 2}, {1, 2, 3}), "");
  EXPECT_DEATH(Tensor::Of<float>({-1}, {1}), "");
}

TEST(Tensor, WrapKeepsItsOwner) {
  auto owner = std::make_shared<std::vector<float>>(6, 2.0f);
  const std::weak_ptr<std::vector<float>> watch = owner;
  Tensor t = Tensor::Wrap(DType::kFloat32, {6}, owner->data(), owner);
  owner.reset();
  Tensor reshaped = t.Reshaped({2, 3});
  t = Tensor();
  EXPECT_EQ(reshaped.data<float>()[5], 2.0f);
  reshaped = Tensor();
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, TheEmptyHandle) {
  const Tensor none;
  EXPECT_TRUE(none.empty_handle());
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.bytes(), 0u);
  EXPECT_TRUE(none.Clone()->empty_handle());
  EXPECT_TRUE(BitwiseEqual(none, Tensor()));
  EXPECT_FALSE(BitwiseEqual(none, Tensor::Scalar(1)));
}

TEST(BitwiseEqual, ComparesTypeDimsAndBits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor t = Tensor::Of<float>({3}, {nan, 0.0f, 1.0f});
  EXPECT_TRUE(BitwiseEqual(t, t));
  EXPECT_TRUE(BitwiseEqual(t, *t.Clone()));
  EXPECT_FALSE(BitwiseEqual(t, Tensor::Of<float>({3}, {nan, -0.0f, 1.0f})));
  EXPECT_FALSE(BitwiseEqual(t, Tensor::Of<float>({3}, {-nan, 0.0f, 1.0f})));
  EXPECT_FALSE(BitwiseEqual(t, t.Reshaped({3, 1})));
  EXPECT_FALSE(BitwiseEqual(Tensor::Of<int32_t>({1}, {1}), Tensor::Of<uint32_t>({1}, {1})));
  EXPECT_TRUE(BitwiseEqual(*Tensor::Allocate(DType::kFloat32, {0}), *Tensor::Allocate(DType::kFloat32, {0})));
  EXPECT_FALSE(BitwiseEqual(*Tensor::Allocate(DType::kFloat32, {0}), *Tensor::Allocate(DType::kFloat32, {0, 2})));
  const Tensor words = Tensor::Of<std::string>({2}, {"a", std::string(50, 'b')});
  EXPECT_TRUE(BitwiseEqual(words, *words.Clone()));
  EXPECT_FALSE(BitwiseEqual(words, Tensor::Of<std::string>({2}, {"a", "b"})));
}

}  // namespace
}  // namespace weft
