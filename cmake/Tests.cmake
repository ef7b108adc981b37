# One GoogleTest program per folder of test/unit, named after the layer under test.
find_package(GTest REQUIRED)
include(GoogleTest)
enable_testing()

# Helpers that need neither Halide nor GoogleTest, shared by all tests.
file(GLOB test_support_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/test/support/*.cpp")
add_library(test_fixtures OBJECT ${test_support_sources})
target_link_libraries(test_fixtures PRIVATE anderson_options)

# What the sanitizers' runtimes do is part of the programs, so that these can be started by hand.
set(test_timeout 300)
set(test_filter)
if(ANDERSON_SANITIZE)
    target_sources(test_fixtures PRIVATE "${CMAKE_SOURCE_DIR}/test/sanitizers/options.cpp")
    target_compile_definitions(test_fixtures PRIVATE ANDERSON_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    set(test_timeout 3000)
    # Hours in the compiler and in OpenCL; fuzz_search takes random schedules through our own code.
    set(test_filter TEST_FILTER -*RandomSchedules*)
endif()

get_target_property(halide_include Halide::Halide INTERFACE_INCLUDE_DIRECTORIES)
list(GET halide_include 0 halide_include)

file(GLOB test_layers RELATIVE "${CMAKE_SOURCE_DIR}/test/unit" "${CMAKE_SOURCE_DIR}/test/unit/*")
foreach(layer IN LISTS test_layers)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/test/unit/${layer}/*.cpp")
    if(NOT sources OR (NOT TARGET anderson_${layer} AND NOT layer STREQUAL "plugin"))
        continue()
    endif()
    add_executable(test_${layer} ${sources})
    target_include_directories(test_${layer} PRIVATE "${CMAKE_SOURCE_DIR}/test/support"
        "${ANDERSON_GENERATED}")
    target_compile_definitions(test_${layer} PRIVATE ANDERSON_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_link_libraries(test_${layer} PRIVATE GTest::gtest GTest::gtest_main)
    if(layer MATCHES "^(frontend|backend|plugin|search)$")
        # Needs the compiler: every layer, and the compiled network where it exists.
        target_link_libraries(test_${layer} PRIVATE anderson_halide Halide::Halide)
        target_precompile_headers(test_${layer} REUSE_FROM anderson_halide_pch)
        # The precompiled header was made with -fPIC, executables would get -fPIE.
        set_target_properties(test_${layer} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
        target_compile_options(test_${layer} PRIVATE -fPIC)
        # For tests that compile printed schedules.
        target_compile_definitions(test_${layer} PRIVATE ANDERSON_CXX="${CMAKE_CXX_COMPILER}"
            ANDERSON_HALIDE_INCLUDE="${halide_include}")
        foreach(l IN LISTS ANDERSON_LAYERS)
            target_link_libraries(test_${layer} PRIVATE $<TARGET_OBJECTS:anderson_${l}>)
        endforeach()
        if(layer STREQUAL "plugin")
            target_link_libraries(test_${layer} PRIVATE $<TARGET_OBJECTS:anderson_plugin>)
        endif()
        target_link_libraries(test_${layer} PRIVATE ${ANDERSON_COST_MODEL_LIBRARIES}
            $<TARGET_OBJECTS:test_fixtures>)
    else()
        target_link_libraries(test_${layer} PRIVATE anderson_options ${ANDERSON_PLAIN_OBJECTS}
            $<TARGET_OBJECTS:test_fixtures>)
        if(layer STREQUAL "costmodel")
            target_link_libraries(test_${layer} PRIVATE $<TARGET_OBJECTS:anderson_costmodel>
                test_cost_rows_baseline ${ANDERSON_COST_MODEL_LIBRARIES})
        elseif(layer STREQUAL "training")
            target_sources(test_${layer} PRIVATE "${CMAKE_SOURCE_DIR}/test/unit/costmodel/synthetic.cpp"
                "${CMAKE_SOURCE_DIR}/src/tools/flags.cpp")
            target_include_directories(test_${layer} PRIVATE "${CMAKE_SOURCE_DIR}/test/unit/costmodel")
            target_link_libraries(test_${layer} PRIVATE $<TARGET_OBJECTS:anderson_training>
                $<TARGET_OBJECTS:anderson_costmodel> ${ANDERSON_COST_MODEL_LIBRARIES})
        endif()
    endif()
    gtest_discover_tests(test_${layer} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
        ${test_filter} PROPERTIES TIMEOUT ${test_timeout})
endforeach()

if(ANDERSON_SANITIZE)
    include(SanitizerTests)
endif()

add_subdirectory("${CMAKE_SOURCE_DIR}/test/fuzz" "${CMAKE_BINARY_DIR}/fuzz")

# Tests in Python: the applications from end to end, and the comparison with the wheel's plugin.
if(TARGET autoschedule_anderson2021 AND NOT ANDERSON_SANITIZE)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    add_subdirectory("${CMAKE_SOURCE_DIR}/test/integration")
    add_subdirectory("${CMAKE_SOURCE_DIR}/test/reliability" "${CMAKE_BINARY_DIR}/reliability")
    # Their schedules replayed here, and ours replayed there. `make check-full` does more of it.
    set(forth_options --seeds 5 --random 24 --heavy-seeds 1 --minimum 300)
    set(back_options --back --seeds 2 --random 24 --heavy-seeds 1 --minimum 60)
    foreach(direction forth back)
        add_test(NAME differential.${direction}
            COMMAND ${Python3_EXECUTABLE} test/differential/compare_with_reference.py
                --plugin $<TARGET_FILE:autoschedule_anderson2021> ${${direction}_options}
                --jobs 2 --report "${CMAKE_BINARY_DIR}/differential/${direction}"
                --work "${CMAKE_BINARY_DIR}/differential/${direction}")
        set_tests_properties(differential.${direction} PROPERTIES PROCESSORS 2
            WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" TIMEOUT 900 LABELS integration)
    endforeach()
    # The comparison must notice what it is there for.
    add_test(NAME differential.tester
        COMMAND ${Python3_EXECUTABLE} -m pytest -q -p no:cacheprovider
            test/differential/test_tester.py)
    set_tests_properties(differential.tester PROPERTIES
        WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" TIMEOUT 600 LABELS integration ENVIRONMENT
        "ANDERSON_PLUGIN=$<TARGET_FILE:autoschedule_anderson2021>;PYTHONDONTWRITEBYTECODE=1")
endif()

# Compares the featurizer with recorded features; takes the files as arguments, so no test of ctest.
find_package(nlohmann_json QUIET)
if(nlohmann_json_FOUND)
    add_executable(check_vectors EXCLUDE_FROM_ALL
        test/differential/check_vectors.cpp test/differential/bound_text.cpp)
    target_link_libraries(check_vectors PRIVATE anderson_options nlohmann_json::nlohmann_json)
    foreach(layer support device features algorithm schedule featurizer)
        target_link_libraries(check_vectors PRIVATE $<TARGET_OBJECTS:anderson_${layer}>)
    endforeach()
endif()

# Compares the compiled network with the plain one; takes weights and features as arguments.
add_executable(check_network EXCLUDE_FROM_ALL test/differential/check_network.cpp
    $<TARGET_OBJECTS:anderson_support> $<TARGET_OBJECTS:anderson_features>
    $<TARGET_OBJECTS:anderson_costmodel>)
target_link_libraries(check_network PRIVATE anderson_options ${ANDERSON_COST_MODEL_LIBRARIES})

# That the table of mutants fits the sources; the mutation run itself is `make check-mutants`.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME mutation.table
    COMMAND "${Python3_EXECUTABLE}" -m pytest -q -p no:cacheprovider
        "${CMAKE_SOURCE_DIR}/test/mutation/test_mutant_table.py")
set_tests_properties(mutation.table PROPERTIES TIMEOUT 60
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
