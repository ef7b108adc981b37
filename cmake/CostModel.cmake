# The compiled network, and what src/costmodel needs besides its own sources.
#
# The generators of src/costmodel/network run at build time; their objects and the one Halide
# runtime that they share end up in ANDERSON_COST_MODEL_LIBRARIES, which everything that links
# the objects of anderson_costmodel has to link too. They are static libraries with default
# visibility: a shared library should hide them (-Wl,--exclude-libs,ALL), so that this runtime
# does not meet another one in the same process.

file(GLOB network_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/costmodel/network/*.cpp")
# An object library, because only position-independent code can use the precompiled Halide.h.
add_library(cost_model_network OBJECT ${network_sources})
target_link_libraries(cost_model_network PRIVATE anderson_halide)
if(ANDERSON_SANITIZE)
    # A tool of the build, whose own and Halide's leaks at exit are nobody's concern.
    # As a property of the sources, because those options come after all others.
    set_source_files_properties(${network_sources} PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)
else()
    target_precompile_headers(cost_model_network REUSE_FROM anderson_halide_pch)
endif()
add_executable(cost_model_generators $<TARGET_OBJECTS:cost_model_network>)
target_link_libraries(cost_model_generators PRIVATE Halide::Generator)
if(UNIX AND NOT APPLE)
    # The generators find libHalide in the Python package that the build was configured with.
    set_target_properties(cost_model_generators PROPERTIES BUILD_RPATH "$<TARGET_FILE_DIR:Halide::Halide>")
endif()

# Strict floating point: the vector dimension is the schedule, so there is nothing to gain from
# reassociation, and predictions get the same bits on every processor. With that, choosing among
# instruction sets at run time cannot change a search's result.
if(Halide_CMAKE_TARGET MATCHES "^x86-64-")
    set(network_targets
        "${Halide_CMAKE_TARGET}-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41-strict_float"
        "${Halide_CMAKE_TARGET}-avx-avx2-f16c-fma-sse41-strict_float"
        "${Halide_CMAKE_TARGET}-strict_float")
else()
    set(network_targets cmake-strict_float)
endif()

add_halide_runtime(anderson_cost_model_runtime TARGETS ${network_targets})
set(ANDERSON_COST_MODEL_LIBRARIES "")
foreach(function cost_model train_cost_model cost_embedding cost_rows)
    add_halide_library(anderson2021_${function} FROM cost_model_generators
        GENERATOR ${function} FUNCTION_NAME ${function}
        TARGETS ${network_targets}
        USE_RUNTIME anderson_cost_model_runtime)
    list(APPEND ANDERSON_COST_MODEL_LIBRARIES anderson2021_${function})
endforeach()

# For a test: cost_rows without any choice of instruction set.
if(ANDERSON_BUILD_TESTS)
    list(GET network_targets -1 baseline_target)
    add_halide_library(test_cost_rows_baseline FROM cost_model_generators
        GENERATOR cost_rows FUNCTION_NAME cost_rows_baseline
        TARGETS ${baseline_target}
        USE_RUNTIME anderson_cost_model_runtime)
endif()

set(embedded "${CMAKE_BINARY_DIR}/embedded_weights.cpp")
add_custom_command(OUTPUT "${embedded}"
    COMMAND ${CMAKE_COMMAND} -DINPUT=${CMAKE_SOURCE_DIR}/baseline.weights -DOUTPUT=${embedded}
            -P ${CMAKE_SOURCE_DIR}/cmake/EmbedBytes.cmake
    DEPENDS "${CMAKE_SOURCE_DIR}/baseline.weights" "${CMAKE_SOURCE_DIR}/cmake/EmbedBytes.cmake"
    VERBATIM)
target_sources(anderson_costmodel PRIVATE "${embedded}")
target_link_libraries(anderson_costmodel PRIVATE ${ANDERSON_COST_MODEL_LIBRARIES})

add_executable(make_random_weights "${CMAKE_SOURCE_DIR}/src/tools/make_random_weights.cpp"
    ${ANDERSON_TOOL_SOURCES} $<TARGET_OBJECTS:anderson_costmodel>)
target_include_directories(make_random_weights PRIVATE "${ANDERSON_GENERATED}")
target_link_libraries(make_random_weights PRIVATE anderson_options $<TARGET_OBJECTS:anderson_support>
    ${ANDERSON_COST_MODEL_LIBRARIES})
