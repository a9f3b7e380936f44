// .npy and .npz: what NumPy wrote is read, what is written is what NumPy writes, and false files are refused.
#include <gtest/gtest.h>

#include <stoker/io.h>

#include <cstdlib>
#include <functional>

#include "data_room/arrays.h"

namespace stoker::test {
namespace {

std::string npy(std::string_view dictionary, std::string_view data, char major = 1) {
  std::string file = "\x93NUMPY";
  file += major;
  file += '\0';
  file += major == 1 ? little(uint16_t(dictionary.size())) : little(uint32_t(dictionary.size()));
  return file.append(dictionary).append(data);
}

// Writes a file, reads it, and gives what the reader said.
template <class Error>
std::string refusal(const std::string& content, const std::function<void(const std::filesystem::path&)>& read) {
  const TemporaryFolder folder;
  write_file(folder / "file", content);
  try {
    read(folder / "file");
  } catch (const Error& e) {
    return e.what();
  }
  return "not refused";
}

std::string npy_refusal(const std::string& content) {
  return refusal<FormatError>(content, [](const auto& path) { load_npy(path); });
}

std::string npz_refusal(const std::string& content) {
  return refusal<FormatError>(content, [](const auto& path) { load_npz(path); });
}

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Npy, EveryDtypeIsReadAsNumpyWroteIt) {
  for (DType dtype : all_dtypes()) {
    if (dtype == kBF16) continue;
    const Tensor x = load_npy(recorded(std::string(name_of(dtype)) + ".npy"));
    EXPECT_EQ(x.dtype(), dtype);
    EXPECT_EQ(x.shape(), Shape({2, 3}));
    EXPECT_EQ(bytes_of(x), recorded_bytes(dtype)) << name_of(dtype);
  }
}

TEST(Npy, EveryDtypeIsWrittenAsNumpyWritesIt) {
  const TemporaryFolder folder;
  for (DType dtype : all_dtypes()) {
    if (dtype == kBF16) continue;
    save_npy(recorded_tensor(dtype), folder / "x.npy");
    EXPECT_EQ(read_file(folder / "x.npy"), read_file(recorded(std::string(name_of(dtype)) + ".npy"))) << name_of(dtype);
  }
}

TEST(Npy, FortranOrderIsTurnedIntoRows) {
  const Tensor x = load_npy(recorded("fortran.npy"));
  EXPECT_EQ(x.shape(), Shape({2, 3, 4}));
  std::vector<float> count(24);
  for (int i = 0; i < 24; ++i) count[size_t(i)] = float(i);
  EXPECT_EQ(bytes_of(x), bytes_of(count));
}

TEST(Npy, BigEndianNumbersAreTurned) {
  EXPECT_EQ(bytes_of(load_npy(recorded("big_endian.npy"))), recorded_bytes(kI32));
}

TEST(Npy, ScalarVectorAndEmptyArrayKeepTheirShapes) {
  const Tensor scalar = load_npy(recorded("scalar.npy"));
  EXPECT_EQ(scalar.shape(), Shape());
  EXPECT_EQ(bytes_of(scalar), bytes_of<double>({2.5}));
  EXPECT_EQ(load_npy(recorded("empty.npy")).shape(), Shape({0, 3}));
  const Tensor vector = load_npy(recorded("vector.npy"));
  EXPECT_EQ(vector.shape(), Shape({5}));
  const TemporaryFolder folder;
  save_npy(vector, folder / "vector.npy");
  EXPECT_EQ(read_file(folder / "vector.npy"), read_file(recorded("vector.npy")));
}

TEST(Npy, FormatVersionsTwoAndThreeAreRead) {
  for (const char* name : {"version2.npy", "version3.npy"})
    EXPECT_EQ(bytes_of(load_npy(recorded(name))), recorded_bytes(kI32));
}

TEST(Npy, WhatTensorsCannotHoldIsUnsupported) {
  for (const char* name : {"objects.npy", "structured.npy", "complex.npy"})
    EXPECT_THROW(load_npy(recorded(name)), Unsupported) << name;
}

TEST(Npy, BoolBytesOtherThanOneAreTrue) {
  const TemporaryFolder folder;
  write_file(folder / "x.npy",
             npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", std::string("\0\2\xff", 3)));
  EXPECT_EQ(bytes_of(load_npy(folder / "x.npy")), std::string("\0\1\1", 3));
}

TEST(Npy, Bf16HasNoNumpyType) {
  const TemporaryFolder folder;
  EXPECT_THROW(save_npy(recorded_tensor(kBF16), folder / "x.npy"), DTypeError);
  EXPECT_FALSE(std::filesystem::exists(folder / "x.npy"));
}

TEST(Npy, FalseHeadersAreRefusedWithFileAndOffset) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  const std::string data(8, '\0');
  EXPECT_CONTAINS(npy_refusal(""), "magic word");
  EXPECT_CONTAINS(npy_refusal("not an array"), "starts with");
  EXPECT_CONTAINS(npy_refusal(npy(good, data).substr(0, 9)), "the header's length");
  EXPECT_CONTAINS(npy_refusal(npy(good, data).substr(0, 30)), "of the header");
  EXPECT_CONTAINS(npy_refusal(npy(good, data.substr(1))), "expected 8 bytes of data");
  EXPECT_CONTAINS(npy_refusal(npy(good, data + "more")), "the file has 12");
  EXPECT_CONTAINS(npy_refusal(npy(good, data)), "not refused");
  const std::string lie = npy(good, data, 2);
  EXPECT_CONTAINS(npy_refusal(lie.substr(0, 8) + "\xff\xff\xff\xff" + lie.substr(12)),
                  "4294967295 bytes of the header");
  for (const char* header : {
           "",
           "{",
           "{}",
           "{'descr': '<f4', 'fortran_order': False}",
           "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'descr': '<f4'}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': True}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} + 1",
           "{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
       })
    EXPECT_CONTAINS(npy_refusal(npy(header, data)), "in the header") << header;
}

TEST(Npy, ImpossibleShapesAreRefusedBeforeMemoryIsTaken) {
  const auto with_shape = [](std::string_view shape) {
    return npy("{'descr': '<f8', 'fortran_order': True, 'shape': (" + std::string(shape) + ")}", "12345678");
  };
  EXPECT_CONTAINS(npy_refusal(with_shape("-1,")), "at least 0");
  EXPECT_CONTAINS(npy_refusal(with_shape("4294967296, 4294967296")), "63 bits");
  EXPECT_CONTAINS(npy_refusal(with_shape("4294967296, 4294967296, 0")), "63 bits");
  EXPECT_CONTAINS(npy_refusal(with_shape("1000000, 1000000")), "expected 8000000000000 bytes");
  EXPECT_THROW(refusal<FormatError>(with_shape("1,1,1,1,1,1,1,1,1"), [](const auto& path) { load_npy(path); }),
               Unsupported);
}

TEST(Npy, AbsentAndUnreadableFilesGiveTheSystemsWords) {
  const TemporaryFolder folder;
  const auto reason = [](const std::filesystem::path& path) {
    try {
      load_npy(path);
    } catch (const IoError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_CONTAINS(reason(folder / "absent.npy"), "No such file or directory");
  EXPECT_CONTAINS(reason(folder.path()), "Is a directory");
  EXPECT_CONTAINS(reason("/dev/zero"), "not a regular file");
}

TEST(Npz, StoredAndDeflatedArchivesAreRead) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const StateDict arrays = load_npz(recorded(name));
    ASSERT_EQ(arrays.size(), 3u);
    EXPECT_EQ(bytes_of(arrays.at("a")), recorded_bytes(kF32));
    EXPECT_EQ(bytes_of(arrays.at("layer.weight")), recorded_bytes(kI64));
    EXPECT_EQ(arrays.at("none").shape(), Shape({0}));
  }
  EXPECT_EQ(bytes_of(load_npz(recorded("comment.npz")).at("x")), recorded_bytes(kI32));
}

TEST(Npz, WrittenArchivesPassPythonsCheckAndComeBack) {
  const TemporaryFolder folder;
  StateDict arrays;
  for (DType dtype : all_dtypes())
    if (dtype != kBF16) arrays.emplace("x_" + std::string(name_of(dtype)), recorded_tensor(dtype));
  const std::vector<int64_t> many(100'000, 7);
  arrays.emplace("many", from_host(many.data(), {100'000}, {kI64, cpu()}));
  for (bool compressed : {false, true}) {
    const std::filesystem::path path = folder / "x.npz";
    save_npz(arrays, path, compressed);
    EXPECT_EQ(std::system(("python3 -m zipfile -t " + path.string() + " > /dev/null").c_str()), 0);
    const StateDict read = load_npz(path);
    ASSERT_EQ(read.size(), arrays.size());
    for (const auto& [name, tensor] : arrays) EXPECT_EQ(bytes_of(read.at(name)), bytes_of(tensor)) << name;
    EXPECT_EQ(std::filesystem::file_size(path) < 10'000, compressed);
  }
}

TEST(Npz, AnArchiveWithoutArraysIsEmpty) {
  const TemporaryFolder folder;
  save_npz({}, folder / "x.npz");
  EXPECT_TRUE(load_npz(folder / "x.npz").empty());
}

TEST(Npz, DamageIsRefused) {
  const std::string stored = read_file(recorded("stored.npz"));
  const std::string deflated = read_file(recorded("deflated.npz"));
  EXPECT_CONTAINS(npz_refusal(""), "zip archive");
  EXPECT_CONTAINS(npz_refusal(std::string(100, 'x')), "no end of a directory");
  EXPECT_CONTAINS(npz_refusal(stored.substr(0, stored.size() - 1)), "no end of a directory");
  EXPECT_CONTAINS(npz_refusal(stored.substr(200)), "expected");

  std::string flipped = stored;
  flipped[stored.find(little(0.1f))] ^= 1;
  EXPECT_CONTAINS(npz_refusal(flipped), "checksum");

  const size_t entry = deflated.find("PK\x01\x02");
  std::string huge = deflated;
  huge.replace(entry + 24, 4, "\xff\xff\xff\x7f");  // a content of 2 GiB
  EXPECT_CONTAINS(npz_refusal(huge), "compressed bytes cannot hold them");
  std::string longer = deflated;
  longer[entry + 24] = char(longer[entry + 24] + 1);
  EXPECT_CONTAINS(npz_refusal(longer), "ends after");
  std::string shorter = deflated;
  shorter[entry + 24] = char(shorter[entry + 24] - 1);
  EXPECT_CONTAINS(npz_refusal(shorter), "more bytes follow");
}

TEST(Npz, MembersThatShareBytesOrNamesAreRefused) {
  std::string shared = read_file(recorded("stored.npz"));
  const size_t first = shared.find("PK\x01\x02");
  const size_t second = shared.find("PK\x01\x02", first + 1);
  shared.replace(second + 42, 4, shared.substr(first + 42, 4));
  EXPECT_CONTAINS(npz_refusal(shared), "overlaps");

  const TemporaryFolder folder;
  save_npz({{"x", recorded_tensor(kU8)}, {"y", recorded_tensor(kU8)}}, folder / "x.npz");
  std::string twice = read_file(folder / "x.npz");
  for (size_t at; (at = twice.find("y.npy")) != std::string::npos;) twice[at] = 'x';
  EXPECT_CONTAINS(npz_refusal(twice), "expected each name once, got 'x.npy' again");
}

TEST(Npz, EncryptedMembersAreUnsupported) {
  std::string archive = read_file(recorded("stored.npz"));
  archive[archive.find("PK\x01\x02") + 8] |= 1;
  EXPECT_THROW(refusal<FormatError>(archive, [](const auto& path) { load_npz(path); }), Unsupported);
}

}  // namespace
}  // namespace stoker::test
