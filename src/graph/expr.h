// Scalar expressions: what an element-wise operation does to one element. Written once, with the operators below; every
// backend gets its code from it. An expression is a list of instructions in single assignment form.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <stoker/dtype.h>

#include "graph/attrs.h"

namespace stoker::graph {

// The register an element is computed in: f16, bf16 and f32 in F32; bool and integers of up to 32 bits in I32.
enum class Lane : uint8_t { F32, F64, I32, I64 };
Lane lane_of(DType dtype);
std::string_view name_of(Lane lane);

enum class Prim : uint8_t {
  Arg,    // the imm-th input
  Const,  // a literal: `imm` as the bits of a double (float lanes) or an integer
  Add,
  Sub,
  Mul,
  Div,
  Neg,
  Abs,
  Min,
  Max,  // NaN if either is NaN
  Fma,  // a * b + c rounded once; float lanes; only inside the polynomials of one operation
  Sqrt,
  Floor,
  Ceil,
  Round,
  Trunc,  // Round: half to even
  Rem,    // integers: the sign of the divisor (Python's %); floats: fmod by truncation (C's)
  Lt,
  Le,
  Eq,
  Ne,  // result in I32, 0 or 1; ordered (NaN gives 0, but Ne gives 1)
  And,
  Or,
  Xor,
  Not,  // bits of integer lanes; Not: logical (0 -> 1, else 0)
  Shl,
  Shr,         // integer lanes; Shr keeps the sign
  ShrLogical,  // integer lanes, zeros come in
  Select,      // a != 0 ? b : c; a in I32
  Cast,        // between lanes, C++ conversion; float to integer truncates and saturates, NaN gives 0
  Bits,        // the same bits in the other lane of equal width (F32 <-> I32, F64 <-> I64)
  Narrow,      // wraps an I32 or I64 to the dtype in imm; rounds an F32 to the half type in imm
  // Functions that float lanes of 32 bits expand into the above, and 64-bit lanes take from the C library:
  Exp,
  Log,
  Sin,
  Cos,
  Tanh,
  Erf,
  Log1p,
  Expm1,
  Pow,
  Atan,
  Asin,
  Acos,
  Sinh,
  Cosh,
  Tan,
  Lgamma,
};
std::string_view name_of(Prim prim);
int arity_of(Prim prim);

struct ExprInst {
  Prim prim;
  Lane lane;  // of the result (comparisons: of the operands; the result is I32)
  int a = -1, b = -1, c = -1;
  uint64_t imm = 0;
  bool operator==(const ExprInst&) const = default;
  Lane result() const { return prim >= Prim::Lt && prim <= Prim::Ne ? Lane::I32 : lane; }
};

// Instructions being built. Equal instructions are shared.
class ExprBuilder {
 public:
  int emit(ExprInst inst);
  const std::vector<ExprInst>& code() const { return code_; }
  const ExprInst& operator[](int i) const { return code_[size_t(i)]; }

 private:
  struct Hash {
    size_t operator()(const ExprInst& e) const;
  };
  std::vector<ExprInst> code_;
  std::unordered_map<ExprInst, int, Hash> known_;
};

// A value inside of an expression. Arithmetic on two of them needs equal lanes; a C++ number takes the other's lane.
class Ex {
 public:
  Ex() = default;
  Ex(ExprBuilder* builder, int id) : builder_(builder), id_(id) {}
  Lane lane() const { return (*builder_)[id_].result(); }
  int id() const { return id_; }
  ExprBuilder* builder() const { return builder_; }
  // A literal in this value's lane.
  Ex literal(double v) const;
  Ex literal_bits(uint64_t bits) const;

 private:
  ExprBuilder* builder_ = nullptr;
  int id_ = -1;
};

Ex emit(Prim prim, Ex a);
Ex emit(Prim prim, Ex a, Ex b);
Ex emit(Prim prim, Ex a, Ex b, Ex c);

inline Ex operator+(Ex a, Ex b) { return emit(Prim::Add, a, b); }
inline Ex operator-(Ex a, Ex b) { return emit(Prim::Sub, a, b); }
inline Ex operator*(Ex a, Ex b) { return emit(Prim::Mul, a, b); }
inline Ex operator/(Ex a, Ex b) { return emit(Prim::Div, a, b); }
inline Ex operator-(Ex a) { return emit(Prim::Neg, a); }
inline Ex operator+(Ex a, double b) { return a + a.literal(b); }
inline Ex operator-(Ex a, double b) { return a - a.literal(b); }
inline Ex operator*(Ex a, double b) { return a * a.literal(b); }
inline Ex operator/(Ex a, double b) { return a / a.literal(b); }
inline Ex operator+(double a, Ex b) { return b.literal(a) + b; }
inline Ex operator-(double a, Ex b) { return b.literal(a) - b; }
inline Ex operator*(double a, Ex b) { return b.literal(a) * b; }
inline Ex operator/(double a, Ex b) { return b.literal(a) / b; }
inline Ex operator<(Ex a, Ex b) { return emit(Prim::Lt, a, b); }
inline Ex operator<=(Ex a, Ex b) { return emit(Prim::Le, a, b); }
inline Ex operator>(Ex a, Ex b) { return emit(Prim::Lt, b, a); }
inline Ex operator>=(Ex a, Ex b) { return emit(Prim::Le, b, a); }
inline Ex operator<(Ex a, double b) { return a < a.literal(b); }
inline Ex operator<=(Ex a, double b) { return a <= a.literal(b); }
inline Ex operator>(Ex a, double b) { return a > a.literal(b); }
inline Ex operator>=(Ex a, double b) { return a >= a.literal(b); }
inline Ex equal(Ex a, Ex b) { return emit(Prim::Eq, a, b); }
inline Ex not_equal(Ex a, Ex b) { return emit(Prim::Ne, a, b); }
inline Ex min(Ex a, Ex b) { return emit(Prim::Min, a, b); }
inline Ex max(Ex a, Ex b) { return emit(Prim::Max, a, b); }
inline Ex fma(Ex a, Ex b, Ex c) { return emit(Prim::Fma, a, b, c); }
inline Ex select(Ex condition, Ex a, Ex b) { return emit(Prim::Select, condition, a, b); }
inline Ex operator&(Ex a, Ex b) { return emit(Prim::And, a, b); }
inline Ex operator|(Ex a, Ex b) { return emit(Prim::Or, a, b); }
inline Ex operator^(Ex a, Ex b) { return emit(Prim::Xor, a, b); }
inline Ex operator!(Ex a) { return emit(Prim::Not, a); }
#define STOKER_EX_UNARY(function, prim) \
  inline Ex function(Ex a) { return emit(Prim::prim, a); }
STOKER_EX_UNARY(abs, Abs)
STOKER_EX_UNARY(sqrt, Sqrt)
STOKER_EX_UNARY(floor, Floor)
STOKER_EX_UNARY(ceil, Ceil)
STOKER_EX_UNARY(round, Round)
STOKER_EX_UNARY(trunc, Trunc)
STOKER_EX_UNARY(exp, Exp)
STOKER_EX_UNARY(log, Log)
STOKER_EX_UNARY(sin, Sin)
STOKER_EX_UNARY(cos, Cos)
STOKER_EX_UNARY(tanh, Tanh)
STOKER_EX_UNARY(erf, Erf)
STOKER_EX_UNARY(log1p, Log1p)
STOKER_EX_UNARY(expm1, Expm1)
STOKER_EX_UNARY(atan, Atan)
STOKER_EX_UNARY(asin, Asin)
STOKER_EX_UNARY(acos, Acos)
STOKER_EX_UNARY(sinh, Sinh)
STOKER_EX_UNARY(cosh, Cosh)
STOKER_EX_UNARY(tan, Tan)
#undef STOKER_EX_UNARY
Ex cast(Ex a, Lane lane);

}  // namespace stoker::graph
