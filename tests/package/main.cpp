#include <stoker/stoker.h>

int main() {
  const stoker::Tensor sum = stoker::ones({2, 3}).sum();
  return sum.item<float>() == 6.0f ? 0 : 1;
}
