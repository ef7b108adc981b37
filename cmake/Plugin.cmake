# The loadable plugin. It takes libHalide's symbols from the process that loads it where possible,
# and exports little (see cmake/package): registration happens in a static object.
file(GLOB ANDERSON_PLUGIN_SOURCES CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/plugin/*.cpp")

add_library(anderson_plugin OBJECT ${ANDERSON_PLUGIN_SOURCES})
target_include_directories(anderson_plugin PRIVATE "${ANDERSON_GENERATED}")
target_link_libraries(anderson_plugin PRIVATE anderson_halide)
target_precompile_headers(anderson_plugin REUSE_FROM anderson_halide_pch)

set(ANDERSON_LAYER_OBJECTS "")
foreach(layer IN LISTS ANDERSON_LAYERS)
    list(APPEND ANDERSON_LAYER_OBJECTS $<TARGET_OBJECTS:anderson_${layer}>)
endforeach()

add_library(autoschedule_anderson2021 MODULE
    $<TARGET_OBJECTS:anderson_plugin> ${ANDERSON_LAYER_OBJECTS})
target_link_libraries(autoschedule_anderson2021 PRIVATE
    anderson_options ${ANDERSON_COST_MODEL_LIBRARIES} Halide::Halide)
target_link_options(autoschedule_anderson2021 PRIVATE -Wl,--exclude-libs,ALL)
if(UNIX AND NOT APPLE)
    # Halide has no way of taking a registration back: dlclose() must leave the code where it is.
    target_link_options(autoschedule_anderson2021 PRIVATE -Wl,-z,nodelete)
endif()
set_target_properties(autoschedule_anderson2021 PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

# Prints the tables of options and GPUs of the documentation.
add_executable(print_options "${CMAKE_SOURCE_DIR}/src/tools/print_options.cpp"
    "${CMAKE_SOURCE_DIR}/src/plugin/options_parser.cpp" $<TARGET_OBJECTS:anderson_support>
    $<TARGET_OBJECTS:anderson_device>)
target_link_libraries(print_options PRIVATE anderson_options)
