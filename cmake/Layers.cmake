# One OBJECT library per folder of src/. Object libraries, because a static
# library would lose the plugin's registration object at link time.
#
# Only the layers listed with HALIDE see Halide.h; they share one precompiled copy.

add_library(anderson_options INTERFACE)
target_compile_features(anderson_options INTERFACE cxx_std_17)
target_include_directories(anderson_options INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_compile_options(anderson_options INTERFACE -Wall -Wextra -Wshadow -Wconversion -Werror)
# Feature values must not depend on the instruction set, so no fused multiply-add.
target_compile_options(anderson_options INTERFACE -ffp-contract=off)
if(ANDERSON_SANITIZE)
    target_compile_options(anderson_options INTERFACE -fsanitize=${ANDERSON_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(anderson_options INTERFACE -fsanitize=${ANDERSON_SANITIZE})
    if(ANDERSON_SANITIZE MATCHES "undefined")
        # A report has to be a failure.
        target_compile_options(anderson_options INTERFACE -fno-sanitize-recover=undefined)
    endif()
    # GCC takes what its own instrumentation does for uses of uninitialized values.
    target_compile_options(anderson_options INTERFACE -Wno-maybe-uninitialized)
endif()
target_link_libraries(anderson_options INTERFACE Threads::Threads)

# Halide.h is not clean under our warnings: it is a system header everywhere.
add_library(anderson_halide INTERFACE)
target_link_libraries(anderson_halide INTERFACE anderson_options)
target_include_directories(anderson_halide SYSTEM INTERFACE
    $<TARGET_PROPERTY:Halide::Halide,INTERFACE_INCLUDE_DIRECTORIES>)
# The same definitions wherever Halide.h is read, or else the precompiled header does not fit.
target_compile_definitions(anderson_halide INTERFACE
    $<TARGET_PROPERTY:Halide::Halide,INTERFACE_COMPILE_DEFINITIONS>)

file(WRITE "${CMAKE_BINARY_DIR}/halide_pch.cpp" "// Carries the precompiled Halide.h that the other targets reuse.\n")
add_library(anderson_halide_pch OBJECT "${CMAKE_BINARY_DIR}/halide_pch.cpp")
target_link_libraries(anderson_halide_pch PRIVATE anderson_halide)
target_precompile_headers(anderson_halide_pch PRIVATE <Halide.h>)

set(ANDERSON_LAYERS "")

# anderson_layer(<name> [HALIDE])
function(anderson_layer name)
    cmake_parse_arguments(ARG "HALIDE" "" "" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS
        "${CMAKE_SOURCE_DIR}/src/${name}/*.cpp" "${CMAKE_SOURCE_DIR}/src/${name}/groups/*.cpp")
    if(NOT sources)
        return()
    endif()
    add_library(anderson_${name} OBJECT ${sources})
    if(ARG_HALIDE)
        target_link_libraries(anderson_${name} PRIVATE anderson_halide)
        target_precompile_headers(anderson_${name} REUSE_FROM anderson_halide_pch)
    else()
        target_link_libraries(anderson_${name} PRIVATE anderson_options)
    endif()
    set(ANDERSON_LAYERS ${ANDERSON_LAYERS} ${name} PARENT_SCOPE)
endfunction()

anderson_layer(support)
anderson_layer(device)
anderson_layer(features)
anderson_layer(tiling)
anderson_layer(costmodel)
anderson_layer(algorithm)
anderson_layer(schedule)
anderson_layer(space)
anderson_layer(pruning)
anderson_layer(featurizer)
anderson_layer(lowering)
anderson_layer(search)
anderson_layer(frontend HALIDE)
anderson_layer(backend HALIDE)

# The layers that need neither libHalide nor the compiled network, for tests and tools.
set(ANDERSON_PLAIN_LAYERS ${ANDERSON_LAYERS})
list(REMOVE_ITEM ANDERSON_PLAIN_LAYERS frontend backend costmodel search)
set(ANDERSON_PLAIN_OBJECTS "")
foreach(layer IN LISTS ANDERSON_PLAIN_LAYERS)
    list(APPEND ANDERSON_PLAIN_OBJECTS $<TARGET_OBJECTS:anderson_${layer}>)
endforeach()
