// How rows of element-wise operations are written: name, one line of documentation, the dtypes taken, the expression,
// the gradient for each input (null: none) and what it reads.
#pragma once

#include "graph/ops/rows.h"

namespace stoker::graph::rows {

using GradientOf = Value (*)(Grad);

void unary(std::string name, std::string doc, Takes takes, Ex (*f)(Ex x), GradientOf dx, Saves saves = {});
void binary(std::string name, std::string doc, Takes takes, Ex (*f)(Ex a, Ex b), GradientOf da, GradientOf db,
            Saves saves = {});
void ternary(std::string name, std::string doc, Takes takes, Ex (*f)(Ex a, Ex b, Ex c), GradientOf da,
             Saves saves = {});
// Results are bool; no gradient.
void predicate(std::string name, std::string doc, Takes takes, Ex (*f)(Ex x));
void comparison(std::string name, std::string doc, Ex (*f)(Ex a, Ex b));

inline bool is_float_lane(Ex x) { return x.lane() == Lane::F32 || x.lane() == Lane::F64; }
inline Ex select(Ex condition, Ex a, double b) { return graph::select(condition, a, a.literal(b)); }
inline Ex select(Ex condition, double a, Ex b) { return graph::select(condition, b.literal(a), b); }
inline Ex equal(Ex a, double b) { return graph::equal(a, a.literal(b)); }
// x < 0, or -0: the sign bit of a float.
Ex negative(Ex x);

inline Value zero_gradient(Grad c) { return zeros(c.in(0).type()); }

}  // namespace stoker::graph::rows
