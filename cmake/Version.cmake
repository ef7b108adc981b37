# The headers that are installed: the version, from project(), and progress reports. ANDERSON_GENERATED
# is the folder to include them from, as "anderson2021/version.h".
set(ANDERSON_GENERATED "${CMAKE_BINARY_DIR}/generated")
configure_file("${CMAKE_SOURCE_DIR}/cmake/package/version.h.in"
    "${ANDERSON_GENERATED}/anderson2021/version.h" @ONLY)
configure_file("${CMAKE_SOURCE_DIR}/cmake/package/progress.h"
    "${ANDERSON_GENERATED}/anderson2021/progress.h" COPYONLY)

# Sources that all command-line programs share.
set(ANDERSON_TOOL_SOURCES "${CMAKE_SOURCE_DIR}/src/tools/flags.cpp" "${CMAKE_SOURCE_DIR}/src/tools/tool.cpp")

include(GNUInstallDirs)
add_library(anderson_headers INTERFACE)
set_target_properties(anderson_headers PROPERTIES EXPORT_NAME headers)
target_include_directories(anderson_headers INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
