/// \file
/// Tensors in files: safetensors, NumPy's .npy and .npz, and IDX.
///
/// Reading: a file that is not what it says it is gives a FormatError with its name and the offset of the fault, and no
/// memory is taken that the file's own size does not bear out; a valid file that holds something Stoker has no type for
/// gives Unsupported. Writing: the new file is written beside the old one, handed to the disk and renamed, so that a
/// crash leaves one or the other. What the operating system refuses is an IoError with its words.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <stoker/tensor.h>

namespace stoker {

/// Tensors by name.
using StateDict = std::map<std::string, Tensor>;
/// Text by name, as safetensors keeps it beside the tensors.
using Metadata = std::map<std::string, std::string>;

// --- safetensors: all ten dtypes -------------------------------------------------------------------------------------

/// Writes tensors and metadata to one safetensors file.
void save(const StateDict& tensors, const std::filesystem::path& path, const Metadata& metadata = {});
/// Every tensor of a safetensors file.
StateDict load(const std::filesystem::path& path, Device device = default_device());
/// What was given to save() beside the tensors; the tensors are not read.
Metadata load_metadata(const std::filesystem::path& path);

// --- NumPy: every dtype but bf16, which NumPy does not have ----------------------------------------------------------

/// Reads an array of either byte order, in C or Fortran order.
Tensor load_npy(const std::filesystem::path& path, Device device = default_device());
/// Errors: DTypeError for bf16.
void save_npy(const Tensor& tensor, const std::filesystem::path& path);
/// Reads every array of an archive made by numpy.savez or numpy.savez_compressed.
StateDict load_npz(const std::filesystem::path& path, Device device = default_device());
/// Errors: DTypeError for bf16.
void save_npz(const StateDict& tensors, const std::filesystem::path& path, bool compressed = false);

// --- IDX: the format of MNIST, plain or compressed by gzip -----------------------------------------------------------

/// Reads u8, i8, i16, i32, f32 or f64 arrays.
Tensor load_idx(const std::filesystem::path& path, Device device = default_device());

}  // namespace stoker
