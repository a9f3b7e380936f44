// safetensors: every dtype is read and written; headers that do not fit their file are refused.
#include <gtest/gtest.h>

#include <stoker/io.h>

#include "data_room/arrays.h"

namespace stoker::test {
namespace {

std::string file_of(std::string_view header, std::string_view data = {}) {
  return little(uint64_t(header.size())).append(header).append(data);
}

std::string refusal(const std::string& content) {
  const TemporaryFolder folder;
  write_file(folder / "x.safetensors", content);
  try {
    load(folder / "x.safetensors");
  } catch (const FormatError& e) {
    return e.what();
  }
  return "not refused";
}

std::string header_refusal(std::string_view header, std::string_view data = "1234") {
  return refusal(file_of(header, data));
}

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(SafeTensors, EveryDtypeIsRead) {
  const StateDict tensors = load(recorded("all.safetensors"));
  ASSERT_EQ(tensors.size(), 12u);
  for (DType dtype : all_dtypes()) {
    const Tensor& x = tensors.at(std::string(name_of(dtype)));
    EXPECT_EQ(x.dtype(), dtype);
    EXPECT_EQ(x.shape(), Shape({2, 3}));
    EXPECT_EQ(bytes_of(x), recorded_bytes(dtype)) << name_of(dtype);
  }
  EXPECT_EQ(tensors.at("none").shape(), Shape({0, 4}));
  EXPECT_EQ(tensors.at("number").shape(), Shape());
  EXPECT_EQ(bytes_of(tensors.at("number")), bytes_of<float>({2.5f}));
}

TEST(SafeTensors, MetadataIsReadAlone) {
  const Metadata metadata = load_metadata(recorded("all.safetensors"));
  EXPECT_EQ(metadata, (Metadata{{"format", "pt"}, {"note", "a \"quoted\" word"}}));
}

TEST(SafeTensors, WhatIsWrittenComesBack) {
  const TemporaryFolder folder;
  StateDict tensors;
  for (DType dtype : all_dtypes()) tensors.emplace("layer." + std::string(name_of(dtype)), recorded_tensor(dtype));
  tensors.emplace("none", from_host(nullptr, {0, 4}, {kF32, cpu()}));
  const Metadata metadata = {{"note", "première\nligne"}, {"empty", ""}};
  save(tensors, folder / "x.safetensors", metadata);
  const StateDict read = load(folder / "x.safetensors");
  ASSERT_EQ(read.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(read.at(name).dtype(), tensor.dtype());
    EXPECT_EQ(read.at(name).shape(), tensor.shape());
    EXPECT_EQ(bytes_of(read.at(name)), bytes_of(tensor)) << name;
  }
  EXPECT_EQ(load_metadata(folder / "x.safetensors"), metadata);
}

TEST(SafeTensors, DataIsAlignedAndWideElementsComeFirst) {
  const TemporaryFolder folder;
  save({{"a", recorded_tensor(kU8)}, {"b", recorded_tensor(kF64)}}, folder / "x.safetensors");
  const std::string file = read_file(folder / "x.safetensors");
  EXPECT_EQ(file.size() % 8, 6u);  // header and 48 bytes of f64, then 6 of u8
  EXPECT_EQ(file.substr(file.size() - 6), recorded_bytes(kU8));
  EXPECT_EQ(file.substr(file.size() - 54, 48), recorded_bytes(kF64));
}

TEST(SafeTensors, AnEmptyDictionaryIsAFile) {
  const TemporaryFolder folder;
  save({}, folder / "x.safetensors");
  EXPECT_TRUE(load(folder / "x.safetensors").empty());
}

TEST(SafeTensors, NamesThatTheFormatCannotHoldAreRefused) {
  const TemporaryFolder folder;
  EXPECT_THROW(save({{"__metadata__", recorded_tensor(kU8)}}, folder / "x"), ValueError);
  EXPECT_THROW(save({{"\xff", recorded_tensor(kU8)}}, folder / "x"), ValueError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// BR-044
TEST(SafeTensors, OffsetsMustFitShapeAndFile) {
  const auto with_offsets = [](std::string_view shape, std::string_view offsets) {
    return header_refusal(R"({"t":{"dtype":"F32","shape":)" + std::string(shape) + R"(,"data_offsets":)" +
                          std::string(offsets) + "}}");
  };
  EXPECT_CONTAINS(with_offsets("[1]", "[0,4]"), "not refused");
  EXPECT_CONTAINS(with_offsets("[1000,1000]", "[0,4]"), "tensor 't': expected 4000000 bytes");
  EXPECT_CONTAINS(with_offsets("[1]", "[8,4]"), "tensor 't': expected data_offsets in order");
  EXPECT_CONTAINS(with_offsets("[1]", "[-16,0]"), "tensor 't': expected two data_offsets");
  EXPECT_CONTAINS(with_offsets("[1]", "[]"), "tensor 't': expected two data_offsets");
  EXPECT_CONTAINS(with_offsets("[1]", "[0]"), "tensor 't': expected two data_offsets");
  EXPECT_CONTAINS(with_offsets("[1]", "[0,4,8]"), "tensor 't': expected two data_offsets");
  EXPECT_CONTAINS(with_offsets("[2]", "[0,8]"), "tensor 't': expected data_offsets in order and at most 4");
  EXPECT_CONTAINS(with_offsets("[1]", "[0.0,4.0]"), "tensor 't': expected two data_offsets");
  EXPECT_CONTAINS(with_offsets("[1]", "[0,18446744073709551615]"), "tensor 't': expected two data_offsets");
  EXPECT_CONTAINS(with_offsets("[-1]", "[0,4]"), "tensor 't': expected a shape");
  EXPECT_CONTAINS(with_offsets("\"4\"", "[0,4]"), "tensor 't': expected a shape");
  EXPECT_CONTAINS(with_offsets("[4294967296,4294967296]", "[0,0]"), "63 bits");
  EXPECT_CONTAINS(with_offsets("[]", "[0,0]"), "tensor 't': expected 4 bytes");
}

// BR-044
TEST(SafeTensors, TensorsFillTheDataOnce) {
  const std::string a = R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  const auto with_b = [&](std::string_view offsets) {
    return header_refusal("{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":)" + std::string(offsets) + "}}",
                          "12345");
  };
  EXPECT_CONTAINS(with_b("[1,3]"), "tensor 'b': expected its data at 2");
  EXPECT_CONTAINS(with_b("[0,2]"), "expected its data at 2");
  EXPECT_CONTAINS(with_b("[3,5]"), "tensor 'b': expected its data at 2");
  EXPECT_CONTAINS(with_b("[2,4]"), "expected 4 bytes of data, as the tensors say, but the file has 5");
}

// BR-044
TEST(SafeTensors, RepeatedKeysAndUnknownTypesAreRefused) {
  const std::string t = R"("t":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  EXPECT_CONTAINS(header_refusal("{" + t + "," + t + "}"), "each key once, got 't' again");
  EXPECT_CONTAINS(header_refusal(R"({"t":{"dtype":"U8","dtype":"I8","shape":[4],"data_offsets":[0,4]}})"),
                  "got 'dtype' again");
  EXPECT_CONTAINS(header_refusal(R"({"t":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}})"),
                  "tensor 't': expected a dtype of");
  EXPECT_CONTAINS(header_refusal(R"({"t":{"dtype":4,"shape":[4],"data_offsets":[0,4]}})"),
                  "tensor 't': expected a dtype");
  EXPECT_CONTAINS(header_refusal(R"({"t":{"shape":[4],"data_offsets":[0,4]}})"), "tensor 't'");
  EXPECT_CONTAINS(header_refusal(R"({"t":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":0}})"), "further fields");
  EXPECT_CONTAINS(header_refusal(R"({"t":[0,4]})"), "tensor 't'");
  EXPECT_CONTAINS(header_refusal(R"({"__metadata__":{"a":1}})", ""), "expected text as __metadata__ 'a'");
  EXPECT_CONTAINS(header_refusal(R"({"__metadata__":[]})", ""), "__metadata__");
}

// BR-045
TEST(SafeTensors, HeaderLengthsAreCheckedAgainstTheFile) {
  EXPECT_CONTAINS(refusal(""), "the header's length");
  EXPECT_CONTAINS(refusal("1234567"), "the header's length");
  EXPECT_CONTAINS(refusal(little(uint64_t(0xFFFFFFFFFFFFFFFE)) + "{}"), "at most 2 bytes");
  EXPECT_CONTAINS(refusal(little(uint64_t(3)) + "{}"), "at most 2 bytes, got a length of 3");
  EXPECT_CONTAINS(refusal(little(uint64_t(0))), "expected a header in JSON");
  EXPECT_CONTAINS(refusal(file_of("not JSON")), "expected a header in JSON");
  EXPECT_CONTAINS(refusal(file_of("[]")), "expected a header of tensors by name");
  EXPECT_CONTAINS(refusal(file_of("{\"\xff\":0}")), "expected a header in JSON");
}

// BR-045
TEST(SafeTensors, DeepNestingIsRefusedWithoutDeepRecursion) {
  EXPECT_CONTAINS(refusal(file_of("{\"a\":" + std::string(1'000'000, '['))), "deeper nesting");
}

TEST(SafeTensors, AWriteThatFailsLeavesTheOldFile) {
  const TemporaryFolder folder;
  write_file(folder / "x", "old");
  EXPECT_THROW(save({{"\xff", recorded_tensor(kU8)}}, folder / "x"), ValueError);
  EXPECT_EQ(read_file(folder / "x"), "old");
  EXPECT_THROW(save({}, folder / "absent" / "x"), IoError);
  EXPECT_THROW(save({}, "/dev/null"), IoError);
  EXPECT_THROW(save({}, folder.path()), IoError);
}

}  // namespace
}  // namespace stoker::test
