// SPDX-License-Identifier: Apache-2.0
// A job as a process of kagent's own: what crashes, hangs or eats memory costs itself.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "batch/run_jobs.h"

namespace kagent::batch {

struct ProcessSettings {
  std::filesystem::path kagent;             // the program
  std::filesystem::path folder;             // the batch's: output/, logs/, runs/
  std::vector<std::string> arguments;       // flags of every job: "--backend", "cpu", …
  std::string model;                        // of optimize; empty: check, or baseline
  std::filesystem::path candidates;         // of check; empty as well: baseline
  std::string backend;                      // "cpu" or "cuda": also a folder name below a candidate
  std::vector<std::string> gpus;            // CUDA_VISIBLE_DEVICES of slot i is gpus[i % size]; empty: ours
  int cpu_slots = 1;                        // of the CPU backend: so many jobs may take times at once
};

/// kagent check TASK CANDIDATE, or kagent optimize TASK; stdout to output/<id>.jsonl, stderr to
/// logs/<id>.log. An optimize job that was cut off is resumed from its run folder.
std::unique_ptr<JobStarter> kagent_processes(ProcessSettings settings);

/// The candidate of a task below a folder: "level1/19_ReLU", "level1-19_ReLU", "level1-19",
/// "19_ReLU", or one of these with ".py"; in a folder without model_new.py, its subfolder <backend>.
/// Empty where there is none.
std::filesystem::path find_candidate(const std::filesystem::path& folder, const TaskFile& task,
                                     const std::string& backend);

}  // namespace kagent::batch
