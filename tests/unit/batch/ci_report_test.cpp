// SPDX-License-Identifier: Apache-2.0
#include "batch/ci_report.h"

#include <gtest/gtest.h>

namespace kagent::batch {
namespace {

JobResult result(const std::string& id, int code, bool correct, const std::string& message) {
  JobResult made;
  made.id = id;
  made.task = id;
  made.level = "level1";
  made.end.exit_code = code;
  made.end.correct = correct;
  made.end.outcome = "mismatch";
  made.end.message = message;
  return made;
}

TEST(CiReport, KindsFollowExitCodes) {
  EXPECT_EQ(kind_of(result("a", 0, true, "").end), EndKind::good);
  EXPECT_EQ(kind_of(result("a", 1, true, "").end), EndKind::slower);
  EXPECT_EQ(kind_of(result("a", 1, false, "").end), EndKind::wrong);
  EXPECT_EQ(kind_of(result("a", 4, false, "").end), EndKind::invalid);
  EXPECT_EQ(kind_of(result("a", 70, false, "").end), EndKind::crash);
  EXPECT_EQ(kind_of(result("a", 139, false, "").end), EndKind::crash);
}

TEST(CiReport, FailOnTakesKnownWordsOnly) {
  EXPECT_EQ(*parse_fail_on("invalid, crash"), (std::set<EndKind>{EndKind::invalid, EndKind::crash}));
  EXPECT_TRUE(parse_fail_on("none")->empty());
  EXPECT_EQ(parse_fail_on("good").error().kind, ErrorKind::usage);
  EXPECT_EQ(parse_fail_on("everything").error().kind, ErrorKind::usage);
}

TEST(CiReport, JUnitEscapesWhatTasksAndFaultsSay) {
  const std::string text = junit_xml({result("a<\"&>", 1, false, "got <nan> & \"inf\"\x01\n]]>"), result("b", 0, true, ""),
                                      result("c", 6, false, "no GPU")},
                                     {EndKind::wrong, EndKind::environment});
  EXPECT_NE(text.find("<testsuite name=\"level1\" tests=\"3\" failures=\"1\" errors=\"1\""), std::string::npos) << text;
  EXPECT_NE(text.find("name=\"a&lt;&quot;&amp;&gt;\""), std::string::npos) << text;
  EXPECT_NE(text.find("got &lt;nan&gt; &amp; &quot;inf&quot;?&#10;]]&gt;"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x01'), std::string::npos);
}

TEST(CiReport, AnnotationsCannotBeBrokenOutOf) {
  const std::string text = github_annotations({result("a,b:c", 1, false, "100 %\n::set-output name=x::y")}, {EndKind::wrong}, "");
  EXPECT_EQ(text, "::error title=a%2Cb%3Ac::mismatch: 100 %25%0A::set-output name=x::y\n");
  EXPECT_EQ(github_annotations({result("a", 1, false, "x")}, {}, ""), "");
}

TEST(CiReport, AnnotationsNameFilesOfTheRepositoryOnly) {
  auto made = result("a", 1, false, "wrong");
  made.end.at = "kernels/a.cu:14";
  made.end.facts["candidate"] = "/repo/fast, new";
  EXPECT_EQ(github_annotations({made}, {EndKind::wrong}, "/repo"),
            "::error file=fast%2C new/kernels/a.cu,line=14,title=a::mismatch at kernels/a.cu:14: wrong\n");
  made.end.facts["candidate"] = "/repo/fast/model_new.py";
  EXPECT_EQ(github_annotations({made}, {EndKind::wrong}, "/repo").substr(0, 41), "::error file=fast/kernels/a.cu,line=14,ti");
  made.end.facts["candidate"] = "/elsewhere";
  EXPECT_EQ(github_annotations({made}, {EndKind::wrong}, "/repo").substr(0, 15), "::error title=a");
  made.end.facts["candidate"] = "/repo/fast";
  made.end.at = "../../etc/passwd:1";
  EXPECT_EQ(github_annotations({made}, {EndKind::wrong}, "/repo").substr(0, 15), "::error title=a");
}

}  // namespace
}  // namespace kagent::batch
