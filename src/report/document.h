// SPDX-License-Identifier: Apache-2.0
// What a report says, whatever it is shown as: render.h makes terminal text, Markdown, CSV or one HTML
// page of it. Every text in it may be hostile; the renderers escape, whoever builds a Document does not.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kagent::report {

struct Heading {
  int level = 2;                       // 1 is the document's title
  std::string text;
};

struct Paragraph {
  std::string text;
};

/// Names and what they are: device, versions, settings.
struct Facts {
  std::vector<std::pair<std::string, std::string>> rows;
};

struct Column {
  std::string name;
  bool is_number = false;              // set to the right
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;   // as many cells as columns
};

inline constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// One value of a chart; NaN where there is none. low and high: its interval, NaN without one.
struct ChartValue {
  double value = kNothing;
  double low = kNothing;
  double high = kNothing;
};

struct ChartSeries {
  std::string name;
  std::vector<ChartValue> values;      // one for each label
};

enum class ChartKind { bars, columns, line };   // bars lie: one label a row

struct Chart {
  ChartKind kind = ChartKind::bars;
  std::string title;
  std::string unit;                    // what the value axis shows: "times as fast"
  bool logarithmic = false;
  double base = 0;                     // where bars begin, and a line is drawn: 1 for gains
  std::vector<std::string> labels;
  std::vector<ChartSeries> series;
};

/// A text of several lines, closed at first where the form can do that: a turn, a source, a diff.
struct Fold {
  enum class Kind { prose, code, difference };
  std::string title;
  Kind kind = Kind::prose;
  std::string body;
};

using Block = std::variant<Heading, Paragraph, Facts, Table, Chart, Fold>;

struct Document {
  std::string title;
  std::vector<Block> blocks;
  Table figures;                       // what CSV holds: full precision, one header line
};

}  // namespace kagent::report
