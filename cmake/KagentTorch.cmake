# Torch and the CUDA libraries that it loads, as imported targets of our own. find_package(Torch) fails
# without a toolkit when torch comes from PyPI (pytorch issue 73427), and the wheels carry no unversioned
# libraries, so everything is linked by full path.
#
# Targets: kagent::torch_cpu, kagent::torch_cuda, kagent::cuda_headers, kagent::cupti, kagent::nvrtc, kagent::cudart
# Python:  Python3_EXECUTABLE must have torch; -DKAGENT_PYTHON=... chooses it.
if(DEFINED KAGENT_PYTHON)
  set(Python3_EXECUTABLE ${KAGENT_PYTHON})
elseif(EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python3)
  set(Python3_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python3)
endif()
find_package(Python3 3.10 COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module QUIET)

set(KAGENT_HAVE_WORKERS OFF)
if(NOT KAGENT_WORKERS STREQUAL "OFF" AND Python3_FOUND)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/torch_paths.py
    OUTPUT_VARIABLE torch_paths OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE torch_error
    RESULT_VARIABLE torch_status)
  if(torch_status EQUAL 0)
    set(KAGENT_HAVE_WORKERS ON)
  endif()
endif()
if(NOT KAGENT_HAVE_WORKERS)
  if(KAGENT_WORKERS STREQUAL "ON")
    message(FATAL_ERROR "KAGENT_WORKERS=ON, but ${Python3_EXECUTABLE} cannot import torch: ${torch_error}")
  endif()
  message(STATUS "kagent: no torch found, building without the worker programs")
  return()
endif()
if(NOT Python3_Development.Module_FOUND)
  message(FATAL_ERROR "Python.h is missing for ${Python3_EXECUTABLE}; run: apt-get install python3-dev")
endif()
list(GET torch_paths 0 KAGENT_TORCH_DIR)    # …/site-packages/torch
list(GET torch_paths 1 KAGENT_TORCH_VERSION)
list(GET torch_paths 2 KAGENT_NVIDIA_DIR)   # …/site-packages/nvidia/cu13, or empty
list(GET torch_paths 3 KAGENT_TRITON_INCLUDE)
list(GET torch_paths 4 KAGENT_TORCH_CXX11_ABI)
set(extra_includes ${torch_paths})   # what is left: CCCL and crt, where setup had to add them
list(REMOVE_AT extra_includes 0 1 2 3 4)

# --- CUDA headers: the wheels first, so that CUPTI's structs match the library that torch loads (pitfall 24) ---
set(cuda_includes "")
set(cuda_libraries "")
if(KAGENT_NVIDIA_DIR)
  list(APPEND cuda_includes ${KAGENT_NVIDIA_DIR}/include)
  list(APPEND cuda_libraries ${KAGENT_NVIDIA_DIR}/lib)
endif()
set(KAGENT_NVCC "")
if(NOT KAGENT_WHEELS_ONLY)
  find_program(nvcc_program nvcc PATHS /usr/local/cuda/bin)
  if(nvcc_program)
    set(KAGENT_NVCC ${nvcc_program})
    get_filename_component(toolkit_bin ${nvcc_program} REALPATH)
    get_filename_component(toolkit ${toolkit_bin}/../.. REALPATH)
    list(APPEND cuda_includes ${toolkit}/include)
    list(APPEND cuda_libraries ${toolkit}/lib64)
  endif()
endif()
list(APPEND cuda_includes ${extra_includes})
if(KAGENT_TRITON_INCLUDE)
  list(APPEND cuda_includes ${KAGENT_TRITON_INCLUDE})   # carries crt/, which the runtime wheel lacks
endif()
set(KAGENT_CUDA_INCLUDES ${cuda_includes})

find_library(cupti_library NAMES libcupti.so.13 PATHS ${cuda_libraries} NO_DEFAULT_PATH)
find_library(nvrtc_library NAMES libnvrtc.so.13 PATHS ${cuda_libraries} NO_DEFAULT_PATH)
find_library(cudart_library NAMES libcudart.so.13 PATHS ${cuda_libraries} NO_DEFAULT_PATH)
foreach(part cupti nvrtc cudart)
  if(NOT ${part}_library)
    message(FATAL_ERROR "lib${part}.so.13 not found in ${cuda_libraries}; install the NVIDIA wheels that torch ${KAGENT_TORCH_VERSION} brings")
  endif()
endforeach()

add_library(kagent_cuda_headers INTERFACE)
foreach(directory ${cuda_includes})
  target_include_directories(kagent_cuda_headers SYSTEM INTERFACE ${directory})
endforeach()
add_library(kagent::cuda_headers ALIAS kagent_cuda_headers)

function(kagent_imported name library)
  add_library(kagent::${name} SHARED IMPORTED GLOBAL)
  set_target_properties(kagent::${name} PROPERTIES IMPORTED_LOCATION ${library} IMPORTED_NO_SONAME OFF)
  target_link_libraries(kagent::${name} INTERFACE kagent_cuda_headers)
endfunction()
kagent_imported(cupti ${cupti_library})
kagent_imported(nvrtc ${nvrtc_library})
kagent_imported(cudart ${cudart_library})

set(torch_libraries ${KAGENT_TORCH_DIR}/lib)
add_library(kagent_torch INTERFACE)
target_include_directories(kagent_torch SYSTEM INTERFACE
  ${KAGENT_TORCH_DIR}/include ${KAGENT_TORCH_DIR}/include/torch/csrc/api/include)
target_compile_definitions(kagent_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=${KAGENT_TORCH_CXX11_ABI})
target_link_options(kagent_torch INTERFACE -Wl,-rpath,${torch_libraries})
# torch's libraries find each other by their own RPATH; the linker must be told where to look for them.
foreach(directory ${torch_libraries} ${cuda_libraries})
  target_link_options(kagent_torch INTERFACE -Wl,-rpath-link,${directory})
endforeach()
target_link_options(kagent_torch INTERFACE -Wl,--allow-shlib-undefined)

add_library(kagent::torch_cpu INTERFACE IMPORTED GLOBAL)
target_link_libraries(kagent::torch_cpu INTERFACE kagent_torch
  ${torch_libraries}/libtorch_cpu.so ${torch_libraries}/libc10.so)
add_library(kagent::torch_cuda INTERFACE IMPORTED GLOBAL)
target_link_libraries(kagent::torch_cuda INTERFACE kagent::torch_cpu kagent_cuda_headers
  -Wl,--no-as-needed ${torch_libraries}/libtorch_cuda.so ${torch_libraries}/libc10_cuda.so -Wl,--as-needed)

message(STATUS "kagent: torch ${KAGENT_TORCH_VERSION} of ${Python3_EXECUTABLE}; CUDA headers ${cuda_includes}; nvcc '${KAGENT_NVCC}'")
