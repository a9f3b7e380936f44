// What the machine is: cores, memory, instruction sets, and the environment's say in how they are used.
#pragma once

#include <stoker/device.h>

namespace stoker::backends::cpu {

// STOKER_CPU_DEVICES: into how many devices the CPU is split, 1 by default. Throws DeviceError for a bad value.
int device_count_from_environment();
// Threads for each of `devices` devices: STOKER_NUM_THREADS, else OMP_NUM_THREADS, else the cores that this process may
// use, divided among them. Throws DeviceError for a bad STOKER_NUM_THREADS.
int threads_per_device(int devices);

DeviceProperties machine_properties(int threads);

// Memory for tensors, aligned to 64 bytes; large blocks lie on huge pages. nullptr when there is none left.
void* allocate_memory(int64_t bytes);
void release_memory(void* base);

// Counts how often this process is the child of a fork since it loaded the library.
int fork_generation();

}  // namespace stoker::backends::cpu
