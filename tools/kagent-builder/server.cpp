// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#include <variant>

#include "wire/forms.h"
#include "wire/json.h"

namespace kagent::builder {
namespace {

using wire::Json;

/// Fills a request from a frame; reader and document as for every hostile JSON.
struct RequestForm {
  BuildRequest request;
};

void read(const wire::Reader& reader, KernelToBuild& kernel) {
  kernel.kernel = static_cast<int>(reader.field("kernel").integer(0, wire::kMaxKernels - 1));
  wire::read(reader, kernel.request);
}

void read(const wire::Reader& reader, RequestForm& form) {
  BuildRequest& request = form.request;
  request.backend = wire::read_word<Backend>(reader.field("backend"));
  request.architecture = reader.field("architecture").text(64);
  request.compiler = wire::read_word<Compiler>(reader.field("compiler"));
  for (const auto& [name, text] : reader.field("sources").members(4096)) {
    request.sources[std::string(name)] = text.text(32u << 20);
  }
  const wire::Reader kernels = reader.field("kernels");
  const std::size_t count = kernels.list_size(wire::kMaxKernels);
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    read(kernels.item(i), request.kernels.emplace_back());
  }
}

struct Answer {
  Json body;
  std::vector<sys::Fd> descriptors;
};

Answer error(const std::string& message) { return {{{"error", {{"message", message}}}}, {}}; }

Answer build(Engine& engine, const Json& body) {
  auto form = wire::read_document<RequestForm>(body);
  if (!form) return error("build: " + form.error().message);
  auto outcome = engine.build(form->request);
  if (!outcome) return error(outcome.error().message);
  if (const auto* fault = std::get_if<Fault>(&*outcome)) return {{{"fault", wire::to_json(*fault)}}, {}};
  auto& built = std::get<Built>(*outcome);
  return {{{"ok", {{"build", wire::to_json(built.result)}}}}, std::move(built.images)};
}

Answer answer(Engine& engine, const Json& body) {
  const auto type = body.find("type");
  if (type == body.end() || !type->is_string()) return error("a request needs a \"type\"");
  if (*type == "hello") return {{{"ok", {{"compilers", engine.compilers()}}}}, {}};
  if (*type == "build") return build(engine, body);
  return error("the builder knows no request \"" + type->get<std::string>() + "\"");
}

}  // namespace

int serve(Engine& engine, wire::Channel& channel) {
  for (;;) {
    auto received = channel.receive();
    if (const auto* failure = std::get_if<wire::ReceiveFailure>(&received)) {
      return *failure == wire::ReceiveFailure::closed ? 0 : 1;
    }
    const Answer reply = answer(engine, std::get<wire::Frame>(received).body);
    std::vector<int> descriptors;
    for (const sys::Fd& fd : reply.descriptors) descriptors.push_back(fd.get());
    if (!channel.send(reply.body, descriptors)) return 0;  // the other side is gone
  }
}

}  // namespace kagent::builder
