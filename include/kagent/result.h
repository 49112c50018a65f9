// SPDX-License-Identifier: Apache-2.0
// Result<T>: what we could not do. What a candidate did wrong is data (Fault), never an Error;
// a bug is KAGENT_CHECK. Context is added on the way out: "load task a.py: open: No such file".
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace kagent {

/// Which exit code an error ends in when nobody handles it (design §8).
enum class ErrorKind { usage, task_invalid, environment, network, interrupted, internal };

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;  // one line: what is wrong, where, what to do

  /// The same error seen from one step further out.
  Error with_context(const std::string& context) && {
    return Error{kind, context + ": " + std::move(message)};
  }
};

/// Either a T or the Error that explains why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}          // NOLINT: implicit on purpose
  Result(Error error) : state_(std::move(error)) {}      // NOLINT: implicit on purpose

  explicit operator bool() const { return std::holds_alternative<T>(state_); }
  T& operator*() & { return std::get<T>(state_); }
  const T& operator*() const& { return std::get<T>(state_); }
  T&& operator*() && { return std::get<T>(std::move(state_)); }
  T* operator->() { return &std::get<T>(state_); }
  const T* operator->() const { return &std::get<T>(state_); }
  Error& error() & { return std::get<Error>(state_); }
  const Error& error() const& { return std::get<Error>(state_); }
  Error&& error() && { return std::get<Error>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

  explicit operator bool() const { return !error_.has_value(); }
  Error& error() & { return *error_; }
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace kagent

#define KAGENT_CONCAT_INNER(a, b) a##b
#define KAGENT_CONCAT(a, b) KAGENT_CONCAT_INNER(a, b)

/// KAGENT_TRY(auto value, expression): value of the Result, or return its error.
#define KAGENT_TRY(declaration, expression) \
  KAGENT_TRY_INNER(declaration, expression, KAGENT_CONCAT(kagent_result_, __LINE__))
#define KAGENT_TRY_INNER(declaration, expression, temporary)  \
  auto temporary = (expression);                              \
  if (!temporary) return std::move(temporary).error();        \
  declaration = *std::move(temporary)

/// KAGENT_TRY_VOID(expression): return the error of a Result<void>, if there is one.
#define KAGENT_TRY_VOID(expression) \
  if (auto kagent_status = (expression); !kagent_status) return std::move(kagent_status).error()

/// A bug in kagent itself; stays on in release builds.
#define KAGENT_CHECK(condition)                                                                \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      std::fprintf(stderr, "kagent: internal error at %s:%d: %s\n", __FILE__, __LINE__,        \
                   #condition);                                                                \
      std::abort();                                                                            \
    }                                                                                          \
  } while (false)
