# Finds Halide, unless Halide_DIR is given: as CMake does, else in the Python environment. A wheel is
# built with the Halide of the environment that pip has made for that, wherever else there is one.
if(NOT Halide_DIR AND NOT DEFINED SKBUILD)
    find_package(Halide 21 QUIET COMPONENTS shared)
endif()
if(NOT Halide_DIR)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    execute_process(
        COMMAND "${Python3_EXECUTABLE}" -c
            "from importlib import util; print(*util.find_spec('halide').submodule_search_locations, end='')"
        OUTPUT_VARIABLE halide_package ERROR_QUIET)
    if(halide_package)
        set(Halide_DIR "${halide_package}/lib64/cmake/Halide")
    endif()
endif()
