# Where CMake does not find Halide by itself, and Halide_DIR is not given: asks Python.
find_package(Halide 21 QUIET COMPONENTS shared)
if(NOT Halide_FOUND)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    execute_process(
        COMMAND "${Python3_EXECUTABLE}" -c "import halide; print(halide.install_dir(), end='')"
        OUTPUT_VARIABLE halide_package ERROR_QUIET)
    if(halide_package)
        set(Halide_DIR "${halide_package}/lib64/cmake/Halide")
    endif()
endif()
