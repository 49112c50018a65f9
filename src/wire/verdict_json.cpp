// SPDX-License-Identifier: Apache-2.0
// SourceLine, Fault and Verdict.
#include "wire/forms.h"

namespace kagent::wire {
namespace {

constexpr std::size_t kMaxTrials = 4096;
constexpr std::size_t kMaxLabels = 256;

std::string optional_text(const Reader& reader, std::size_t max_bytes) {
  return reader.present() ? reader.text(max_bytes) : std::string();
}

}  // namespace

void read(const Reader& reader, Trial& trial) {
  trial.seed = reader.field("seed").unsigned_integer();
  trial.passed = reader.field("passed").boolean();
  trial.max_error = reader.field("max_error").number();
  trial.error_ratio = reader.field("error_ratio").number();
}

Json to_json(const Trial& trial) {
  return {{"seed", trial.seed},
          {"passed", trial.passed},
          {"max_error", number_to_json(trial.max_error)},
          {"error_ratio", number_to_json(trial.error_ratio)}};
}

void read(const Reader& reader, SourceLine& at) {
  if (!reader.present()) return;
  at.file = reader.field("file").text(kMaxNameBytes);
  at.line = static_cast<int>(reader.field("line").integer(0, 1 << 30));
}

Json to_json(const SourceLine& at) {
  if (at.file.empty()) return nullptr;
  return {{"file", at.file}, {"line", at.line}};
}

void read(const Reader& reader, Fault& fault) {
  fault.kind = read_word<FaultKind>(reader.field("kind"));
  fault.message = reader.field("message").text(kMaxMessageBytes);
  fault.hint = optional_text(reader.optional("hint"), kMaxMessageBytes);
  read(reader.optional("at"), fault.at);
  fault.detail = optional_text(reader.optional("detail"), kMaxLogBytes);
  if (const Reader output = reader.optional("output"); output.present()) {
    fault.output = static_cast<int>(output.integer(-1, kMaxEntries));
  }
  if (const Reader index = reader.optional("index"); index.present()) {
    fault.index = index.integers(kMaxRank);
  }
  fault.expected = optional_text(reader.optional("expected"), kMaxMessageBytes);
  fault.got = optional_text(reader.optional("got"), kMaxMessageBytes);
}

Json to_json(const Fault& fault) {
  Json json{{"kind", word(fault.kind)},
            {"message", fault.message},
            {"hint", fault.hint},
            {"at", to_json(fault.at)},
            {"detail", fault.detail}};
  if (fault.output >= 0) {
    json["output"] = fault.output;
    json["index"] = fault.index;
    json["expected"] = fault.expected;
    json["got"] = fault.got;
  }
  return json;
}

void read(const Reader& reader, Verdict& verdict) {
  verdict.correct = reader.field("correct").boolean();
  read_list(reader.field("trials"), verdict.trials, kMaxTrials);
  if (const Reader fault = reader.optional("fault"); fault.present()) {
    read(fault, verdict.fault.emplace());
  }
  verdict.labels = reader.field("labels").texts(kMaxLabels, kMaxNameBytes);
  if (!reader.failed() && verdict.correct == verdict.fault.has_value()) {
    reader.fail(verdict.correct ? "correct, and yet there is a fault"
                                : "not correct, and no fault");
  }
}

Json to_json(const Verdict& verdict) {
  Json trials = Json::array();
  for (const Trial& trial : verdict.trials) trials.push_back(to_json(trial));
  Json json{{"correct", verdict.correct},
            {"trials", std::move(trials)},
            {"fault", nullptr},
            {"labels", verdict.labels}};
  if (verdict.fault) json["fault"] = to_json(*verdict.fault);
  return json;
}

template <>
Result<Fault> parse(const Json& json) {
  return read_document<Fault>(json);
}
template <>
Result<Verdict> parse(const Json& json) {
  return read_document<Verdict>(json);
}

}  // namespace kagent::wire
