// oneDNN behind a few names: one engine, primitives whose memory comes at launch, and refusal of its reference code,
// which is correct but a hundred times slower than the portable kernels.
#pragma once

#ifdef STOKER_HAVE_ONEDNN

#include <string_view>
#include <unordered_map>

#include <stoker/error.h>
#include <stoker/shape.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace stoker::backends::cpu {

inline const dnnl::engine& onednn_engine() {
  static const auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

inline bool is_reference(std::string_view implementation) { return implementation.find("ref") != implementation.npos; }

inline dnnl::memory::dims to_dims(const Dims& d) { return {d.begin(), d.end()}; }
inline dnnl::memory::desc dense_desc(const Shape& shape) {
  return {to_dims(shape), dnnl::memory::data_type::f32, to_dims(contiguous_strides(shape))};
}

// The attribute of every primitive here: its scratchpad is the plan's memory.
inline dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

// Tensors here are f32.
inline dnnl::memory::desc desc_of(const Shape& shape, dnnl::memory::format_tag tag) {
  return {to_dims(shape), dnnl::memory::data_type::f32, tag};
}

// What oneDNN chooses for a primitive P of these arguments, and for the gradient of a forward primitive. (From version
// 3 on there are no operation descriptors.)
template <class P, class... Arguments>
typename P::primitive_desc choose(const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {onednn_engine(), arguments..., user_scratchpad()};
#else
  return {typename P::desc(arguments...), user_scratchpad(), onednn_engine()};
#endif
}
template <class P, class Forward, class... Arguments>
typename P::primitive_desc choose_gradient(const Forward& forward, const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {onednn_engine(), arguments..., forward, user_scratchpad()};
#else
  return {typename P::desc(arguments...), user_scratchpad(), onednn_engine(), forward};
#endif
}

// Calls f(), which asks oneDNN for a primitive; false where oneDNN has none.
template <class F>
bool is_available(const F& f) {
  try {
    return f();
  } catch (const dnnl::error&) {
    return false;
  }
}

// A primitive and the memory objects it is given; their addresses are set before each run.
class Primitive {
 public:
  Primitive() = default;
  explicit Primitive(dnnl::primitive primitive) : primitive_(std::move(primitive)) {}
  void bind(int argument, const dnnl::memory::desc& desc) {
    arguments_.emplace(argument, dnnl::memory(desc, onednn_engine(), nullptr));
  }
  void set(int argument, const void* data) { arguments_.at(argument).set_data_handle(const_cast<void*>(data)); }
  void run(std::string_view operation) {
    static thread_local dnnl::stream stream(onednn_engine());
    try {
      primitive_.execute(stream, arguments_);
    } catch (const dnnl::error& e) {
      throw DeviceError(operation, std::string("expected oneDNN to run its primitive, but it said: ") + e.what());
    }
  }

 private:
  dnnl::primitive primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

}  // namespace stoker::backends::cpu

#endif  // STOKER_HAVE_ONEDNN
