# Tests that only builds with sanitizers have. Those in Python are left out of such builds: their
# interpreter and the programs that they compile know nothing of sanitizers. Instead the same hosts,
# and generators of applications, are compiled here and load the plugin of this build.

# Everything else does without the pool then (see src/support/pool.cpp).
add_executable(test_pool "${CMAKE_SOURCE_DIR}/test/unit/support/pool_test.cpp"
    "${CMAKE_SOURCE_DIR}/src/support/pool.cpp" "${CMAKE_SOURCE_DIR}/test/sanitizers/options.cpp")
target_compile_definitions(test_pool PRIVATE ANDERSON_WATCH_POOL
    ANDERSON_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_link_libraries(test_pool PRIVATE anderson_options GTest::gtest GTest::gtest_main)
gtest_discover_tests(test_pool DISCOVERY_MODE PRE_TEST TEST_PREFIX "WithPool."
    PROPERTIES TIMEOUT ${test_timeout})

# Every kind of fault has to be reported, or else silence means nothing.
add_executable(commit_fault "${CMAKE_SOURCE_DIR}/test/sanitizers/faults.cpp"
    "${CMAKE_SOURCE_DIR}/test/sanitizers/options.cpp" $<TARGET_OBJECTS:anderson_support>)
target_compile_definitions(commit_fault PRIVATE ANDERSON_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_link_libraries(commit_fault PRIVATE anderson_options)
set(fault_index "Assertion '__n < this->size..' failed")
set(fault_race "ThreadSanitizer: data race")
set(fault_use_after_free "AddressSanitizer: heap-use-after-free|ThreadSanitizer: heap-use-after-free")
set(fault_overflow "runtime error: signed integer overflow")
set(fault_leak "LeakSanitizer: detected memory leaks")
set(faults index use_after_free)
if(ANDERSON_SANITIZE MATCHES "thread")
    list(APPEND faults race)
endif()
if(ANDERSON_SANITIZE MATCHES "address")
    list(APPEND faults leak)
endif()
if(ANDERSON_SANITIZE MATCHES "undefined")
    list(APPEND faults overflow)
endif()
foreach(fault IN LISTS faults)
    add_test(NAME sanitizers.${fault} COMMAND commit_fault ${fault})
    set_tests_properties(sanitizers.${fault} PROPERTIES TIMEOUT 60
        PASS_REGULAR_EXPRESSION "${fault_${fault}}")
endforeach()

# sanitized_program(<name> <source>...): a program of Halide, with its own warnings only
set(sanitize_flags "-fsanitize=${ANDERSON_SANITIZE}" -fno-omit-frame-pointer)
function(sanitized_program name)
    add_executable(${name} ${ARGN} "${CMAKE_SOURCE_DIR}/test/sanitizers/options.cpp")
    target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/apps")
    target_compile_definitions(${name} PRIVATE ANDERSON_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_compile_options(${name} PRIVATE ${sanitize_flags})
    target_link_options(${name} PRIVATE ${sanitize_flags})
    set_target_properties(${name} PROPERTIES BUILD_RPATH "$<TARGET_FILE_DIR:Halide::Halide>")
    add_dependencies(${name} autoschedule_anderson2021)
endfunction()

set(hosts "${CMAKE_SOURCE_DIR}/test/integration")
set(plugin "$<TARGET_FILE:autoschedule_anderson2021>")
sanitized_program(sanitized_cpp_host "${hosts}/cpp_host.cpp")
sanitized_program(sanitized_loading_host "${hosts}/loading_host.cpp")
set(plugin_copy "${CMAKE_BINARY_DIR}/libcopy_of_plugin.so")
add_custom_command(TARGET autoschedule_anderson2021 POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E copy "${plugin}" "${plugin_copy}" VERBATIM)
foreach(host sanitized_cpp_host sanitized_loading_host)
    target_link_libraries(${host} PRIVATE Halide::Halide Threads::Threads ${CMAKE_DL_LIBS})
endforeach()
add_test(NAME sanitizers.cpp_host COMMAND sanitized_cpp_host "${plugin}")
add_test(NAME sanitizers.loading_host COMMAND sanitized_loading_host "${plugin}" "${plugin_copy}")
set_tests_properties(sanitizers.cpp_host sanitizers.loading_host PROPERTIES TIMEOUT ${test_timeout})
# It runs what it has scheduled: the compiler's runtime keeps a table of kernels for good, in memory
# that LeakSanitizer takes for lost.
set_tests_properties(sanitizers.cpp_host PROPERTIES ENVIRONMENT
    "HL_OCL_DEVICE_TYPE=cpu;POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable;ASAN_OPTIONS=detect_leaks=0")

set(generators harris hist stencil_chain)
set(generator_sources ${generators})
list(TRANSFORM generator_sources REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/apps/\\1/\\1_generator.cpp")
sanitized_program(sanitized_generators ${generator_sources})
target_link_libraries(sanitized_generators PRIVATE Halide::Generator)
foreach(generator IN LISTS generators)
    add_test(NAME sanitizers.${generator}
        COMMAND sanitized_generators -g ${generator} -f ${generator} -p "${plugin}"
            -o "${CMAKE_BINARY_DIR}" -e stmt,schedule,featurization
            target=host-cuda-cuda_capability_70 autoscheduler=Anderson2021
            autoscheduler.parallelism=80 autoscheduler.threads=4)
    set_tests_properties(sanitizers.${generator} PROPERTIES TIMEOUT ${test_timeout})
endforeach()
