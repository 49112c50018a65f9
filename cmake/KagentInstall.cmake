# bin/kagent, libexec/kagent/*, share/kagent/*: a tree that can be moved as a whole. The build folder has the
# same shape, so that programs find each other the same way before and after installing.
include(GNUInstallDirs)
set(KAGENT_BIN ${PROJECT_BINARY_DIR}/bin)
set(KAGENT_LIBEXEC ${PROJECT_BINARY_DIR}/libexec/kagent)
set(KAGENT_SHARE ${PROJECT_BINARY_DIR}/share/kagent)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
