// What the library has to say besides errors. It never prints on its own: a program decides where warnings go.
#pragma once

#include <string>

namespace stoker {

void warn(const std::string& message);

}  // namespace stoker
