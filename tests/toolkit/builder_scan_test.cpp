// SPDX-License-Identifier: Apache-2.0
// What sources and options may name. No compiler sees any of these.
#include "builder_fixture.h"

#include "builder/options.h"
#include "builder/source_scan.h"

namespace kagent::builder {
namespace {

std::string refusal(const std::string& text) {
  const auto scanned = scan_sources({{"kernels/k.cu", text}, {"kernels/in.cuh", "\n"}});
  const auto* fault = std::get_if<Fault>(&scanned);
  return fault == nullptr ? std::string() : fault->message;
}

TEST(SourceScan, HostFilesInManyDisguises) {
  for (const char* text : {
           "#include \"/etc/hostname\"\n",
           "#include </etc/hostname>\n",
           "  #  include   \"/etc/hostname\"\n",
           "#include \"../../../../etc/hostname\"\n",
           "#include <cccl/../../../../../etc/hostname>\n",
           "#include /* why */ \"/etc/hostname\"\n",
           "/* a */ #include \"/etc/hostname\"\n",
           "/* a\n */ # /* b\n */ include \"/etc/hostname\"\n",
           "#inc\\\nlude \"/etc/hostname\"\n",
           "#inc\\  \nlude \"/etc/hostname\"\n",
           "#include \"/et\\\nc/hostname\"\n",
           "%:include \"/etc/hostname\"\n",
           "#define FILE \"/etc/hostname\"\n#include FILE\n",
           "#define H </etc/hostname>\n  #include H\n",
           "#if __has_include(\"/etc/hostname\")\n#endif\n",
           "#define P \"/etc/hostname\"\n#if __has_include(P)\n#endif\n",
           "#embed \"/etc/hostname\"\n",
           "#include_next <stdio.h>\n",
           "#import \"/etc/hostname\"\n",
           "const char* s = R\"(\n#include \"/etc/hostname\"\n)\";\n",
           "// trailing \\\n\n#include \"/etc/hostname\"\n",
           "#if 0\nR\"(\n#endif\n#include \"/etc/hostname\"\n",
           "#pragma GCC dependency \"/etc/hostname\"\n",
           "_Pragma(\"GCC dependency \\\"/etc/hostname\\\"\")\n",
           "\v#\finclude\t\"/proc/self/environ\"\n",
           "#include \"sub/..\\\\..\\\\x\"\n",
           "#include \"//etc/hostname\"\n",
           "#include \"\"\n",
       }) {
    EXPECT_NE(refusal(text), "") << text;
  }
}

TEST(SourceScan, RefusalNamesTheLine) {
  EXPECT_EQ(refusal("int a;\n\n#include \"/etc/hostname\"\n").rfind("kernels/k.cu:3: ", 0), 0u);
  EXPECT_EQ(refusal("int a;\\\n\n#include \"/etc/hostname\"\n").rfind("kernels/k.cu:3: ", 0), 0u);
}

TEST(SourceScan, OddTextsAreRefused) {
  EXPECT_NE(refusal(std::string("int a;\0int b;", 13)), "");
  EXPECT_NE(refusal("int a;\rint b;\n"), "");
  EXPECT_NE(refusal("?\?=include \"/etc/hostname\"\n"), "");
  for (const char* name : {"/etc/x", "../x", "kernels/../../x", "", "kernels//x", "a\"b"}) {
    const auto scanned = scan_sources({{name, "\n"}});
    EXPECT_TRUE(std::holds_alternative<Fault>(scanned)) << name;
  }
  const auto large = scan_sources({{"kernels/k.cu", std::string(17u << 20, ' ')}});
  EXPECT_TRUE(std::holds_alternative<Fault>(large));
}

TEST(SourceScan, HonestTextsPass) {
  for (const char* text : {
           "#include <cuda_fp16.h>\n#include \"cuda_bf16.h\"\n#include \"in.cuh\"\n#include \"../kernels/in.cuh\"\n",
           "/*\n# Heading\n# include whatever you like\n*/\n",
           "// #include SOMETHING\n",
           "#ifdef __has_include\n#if defined(__has_include) && __has_include(<cuda_fp16.h>)\n#endif\n#endif\n",
           "#pragma unroll 4 // no dependency\n#pragma once\n#pragma nv_diag_suppress 177\n",
           "#define CAT(a, b) a##b\n#define STR(x) #x\n",
           "const int big = 1'000'000; const char c = '\"'; const char* s = \"#include\";\n",
           "asm(\"// #include <x>\\n\");\n",
           "\xef\xbb\xbfint a;\r\nint b;\r\n",
       }) {
    EXPECT_EQ(refusal(text), "") << text;
  }
}

TEST(SourceScan, IncludesGetFullNamesAndLinesStay) {
  const auto scanned = scan_sources({{"kernels/sub/k.cu", "#include \"../in.c\\\nuh\"\n#line 7 \"x\"\nint a;\n"},
                                     {"kernels/in.cuh", "\n"}});
  ASSERT_TRUE(std::holds_alternative<Sources>(scanned));
  EXPECT_EQ(std::get<Sources>(scanned).at("kernels/sub/k.cu"),
            "#include \"kernels/in.cuh\\\n\"\n\nint a;\n");
}

TEST(SourceScan, TwoDirectivesOnALineAreBlankedOnce) {
  const auto scanned = scan_sources({{"kernels/k.cu", "#line 3 */#line 4\nint a;\n"}});
  ASSERT_TRUE(std::holds_alternative<Sources>(scanned));
  EXPECT_EQ(std::get<Sources>(scanned).at("kernels/k.cu"), "\nint a;\n");
}

KernelRequest with(std::vector<std::string> options) {
  return {"kernels/k.cu", "k", std::move(options), {"model_new.py", 7}};
}

TEST(Options, OthersAreRefusedByName) {
  for (const char* option :
       {"-I/etc", "--include-path=/etc", "-include=/etc/hostname", "--pre-include=/etc/hostname",
        "--fdevice-time-trace=/tmp/x", "--create-pch=/tmp/x", "--pch-dir=/tmp", "-arch=sm_80", "-G",
        "-rdc=true", "-dlto", "-DX=\"a\"", "-DX=__has_include", "-D", "-DX=`a`", "-Xptxas=-O3,-v",
        "--ptxas-options=--output-file=/tmp/x", "-o", "/etc/hostname", "-std=c++98", "@file", "",
        "-fplugin=/tmp/x.so", "-B/tmp", "-Wl,-rpath,/tmp", "-O9", "--keep", "-ccbin=/tmp/x"}) {
    for (const CompilerKind compiler : {CompilerKind::nvrtc, CompilerKind::nvcc, CompilerKind::host}) {
      const auto checked = check_options(with({option}), compiler);
      const auto* fault = std::get_if<Fault>(&checked);
      ASSERT_NE(fault, nullptr) << option;
      EXPECT_EQ(fault->kind, FaultKind::forbidden_op);
      EXPECT_EQ(fault->at.line, 7);
      EXPECT_TRUE(has(fault->message, "'" + std::string(option) + "'")) << fault->message;
      EXPECT_TRUE(has(fault->message, "model_new.py:7")) << fault->message;
    }
  }
}

TEST(Options, StandardAndLevelHaveDefaults) {
  const auto plain = check_options(with({}), CompilerKind::host);
  EXPECT_EQ(std::get<CheckedOptions>(plain).arguments, (std::vector<std::string>{"-std=c++20", "-O3"}));
  const auto chosen = check_options(with({"-std=c++17", "-O2"}), CompilerKind::nvrtc);
  EXPECT_EQ(std::get<CheckedOptions>(chosen).arguments,
            (std::vector<std::string>{"-std=c++17", "--ptxas-options=-O2"}));
}

}  // namespace
}  // namespace kagent::builder
