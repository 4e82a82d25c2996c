# Python, where its development files are. A Python without a sanitizer cannot load what has one.

if(LN_SANITIZE)
  set(python_default OFF)
else()
  set(python_default ON)
endif()
option(LN_PYTHON "Build the Python package lightnetrt (needs Python 3.11 or newer with its headers)" ${python_default})
# Where a distribution has its Python packages. The module holds the library by default, for a wheel.
set(LN_PYTHON_DIR "" CACHE STRING
  "Folder to install the Python package in, such as lib/python3/dist-packages; it uses liblightnet.so then")
set(LN_HAS_PYTHON OFF)
if(LN_PYTHON AND PROJECT_IS_TOP_LEVEL)
  if(EXISTS /usr/bin/python3 AND NOT Python3_EXECUTABLE AND NOT CMAKE_CROSSCOMPILING)
    set(Python3_EXECUTABLE /usr/bin/python3)
  endif()
  find_package(Python3 3.11 QUIET COMPONENTS Interpreter Development.Module)
  if(Python3_Development.Module_FOUND AND NOT CMAKE_CROSSCOMPILING)
    set(LN_HAS_PYTHON ON)
    add_subdirectory(python)
  endif()
endif()
