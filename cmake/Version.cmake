# The version, from project() into the header that is installed. ANDERSON_GENERATED is the folder to
# include it from, as "anderson2021/version.h".
set(ANDERSON_GENERATED "${CMAKE_BINARY_DIR}/generated")
configure_file("${CMAKE_SOURCE_DIR}/cmake/package/version.h.in"
    "${ANDERSON_GENERATED}/anderson2021/version.h" @ONLY)

# Sources that all command-line programs share.
set(ANDERSON_TOOL_SOURCES "${CMAKE_SOURCE_DIR}/src/tools/flags.cpp" "${CMAKE_SOURCE_DIR}/src/tools/tool.cpp")

include(GNUInstallDirs)
add_library(anderson_headers INTERFACE)
set_target_properties(anderson_headers PROPERTIES EXPORT_NAME headers)
target_include_directories(anderson_headers INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
