# What `cmake --install` puts where, for CMake projects, for pkg-config and for the Python wheel:
#
#   lib/anderson2021/                 the plugin and the programs, side by side as in a build folder
#   bin/anderson2021-<program>        links to the programs (not in the wheel)
#   share/anderson2021/weights/       <name>.weights
#   lib/cmake/anderson2021/           find_package(anderson2021)
#   lib/pkgconfig/anderson2021.pc     pkg-config --variable=plugin anderson2021
#   include/anderson2021/version.h    the version as macros
#   include/anderson2021/progress.h   the callback for the progress of searches
#   share/man/, share/bash-completion/completions/    made from what the programs print for --help
#
# A folder of its own for the plugin, because Halide brings one of the same file name. The tree can
# be moved. `package_contents` builds all that it needs.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(ANDERSON_INSTALL_PROGRAMS check_weights distill_weights featurization_to_sample generate_samples
    make_random_weights retrain_cost_model weights_info weightsdir_to_weightsfile)
set(ANDERSON_INSTALL_PRIVATE "${CMAKE_INSTALL_LIBDIR}/anderson2021")
set(ANDERSON_INSTALL_WEIGHTS "${CMAKE_INSTALL_DATADIR}/anderson2021/weights")
set(ANDERSON_INSTALL_CMAKE "${CMAKE_INSTALL_LIBDIR}/cmake/anderson2021")

# anderson_command_name(<variable> <program>): the name that a program has once it is installed.
function(anderson_command_name variable program)
    string(REPLACE "_" "-" command "anderson2021-${program}")
    if(program STREQUAL "retrain_cost_model")
        set(command anderson2021-retrain)
    endif()
    set(${variable} ${command} PARENT_SCOPE)
endfunction()

add_custom_target(package_contents)
add_dependencies(package_contents autoschedule_anderson2021 ${ANDERSON_INSTALL_PROGRAMS})

# Manual pages and completions.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(manuals "${CMAKE_BINARY_DIR}/manuals")
set(commands "")
foreach(program IN LISTS ANDERSON_INSTALL_PROGRAMS)
    anderson_command_name(command ${program})
    list(APPEND commands "${command}=$<TARGET_FILE:${program}>")
endforeach()
file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/python/*.py"
    "${CMAKE_SOURCE_DIR}/scripts/autotune/*.py" "${CMAKE_SOURCE_DIR}/scripts/explain/*.py")
add_custom_command(OUTPUT "${manuals}/man7/anderson2021.7"
    COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/scripts/make_manuals.py" "${manuals}"
            ${PROJECT_VERSION} $<TARGET_FILE:print_options> ${commands}
    DEPENDS scripts/make_manuals.py print_options ${ANDERSON_INSTALL_PROGRAMS} ${command_sources}
    COMMENT "Making manual pages" VERBATIM)
add_custom_target(manuals ALL DEPENDS "${manuals}/man7/anderson2021.7")
add_dependencies(package_contents manuals)

# libHalide: loaded already by whoever loads the plugin; else in the same tree, in the Python package
# next to ours, or where it was at build time.
set(halide_places "$ORIGIN/.." "$ORIGIN/../../../halide/lib64")
if(NOT DEFINED SKBUILD)
    list(APPEND halide_places "$<TARGET_FILE_DIR:Halide::Halide>")
    set(ANDERSON_BUILT_WITH "${Halide_DIR}")
endif()
set_target_properties(autoschedule_anderson2021 generate_samples PROPERTIES
    INSTALL_RPATH "${halide_places}")
# The name that follows the last :: is that of the autoscheduler, by a convention of Halide's helpers.
set_target_properties(autoschedule_anderson2021 PROPERTIES EXPORT_NAME Anderson2021)

install(TARGETS autoschedule_anderson2021 anderson_headers ${ANDERSON_INSTALL_PROGRAMS} EXPORT anderson2021-targets
    LIBRARY DESTINATION "${ANDERSON_INSTALL_PRIVATE}" COMPONENT anderson2021
    RUNTIME DESTINATION "${ANDERSON_INSTALL_PRIVATE}" COMPONENT anderson2021)
install(EXPORT anderson2021-targets NAMESPACE anderson2021::
    DESTINATION "${ANDERSON_INSTALL_CMAKE}" COMPONENT anderson2021)
install(DIRECTORY "${CMAKE_SOURCE_DIR}/weights/" DESTINATION "${ANDERSON_INSTALL_WEIGHTS}"
    COMPONENT anderson2021 FILES_MATCHING PATTERN "*.weights")
install(FILES "${CMAKE_SOURCE_DIR}/baseline.weights" DESTINATION "${ANDERSON_INSTALL_WEIGHTS}"
    COMPONENT anderson2021)
install(FILES "${ANDERSON_GENERATED}/anderson2021/version.h"
    "${ANDERSON_GENERATED}/anderson2021/progress.h"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/anderson2021" COMPONENT anderson2021)

# A Python package has them where its environment looks for data, with pages for its own commands, too.
if(DEFINED SKBUILD)
    set(data "${SKBUILD_DATA_DIR}/share")
    set(without "")
else()
    set(data "${CMAKE_INSTALL_DATADIR}")
    set(without PATTERN "anderson2021-autotune*" EXCLUDE PATTERN "anderson2021-explain*" EXCLUDE)
endif()
install(DIRECTORY "${manuals}/man1" "${manuals}/man7" DESTINATION "${data}/man"
    COMPONENT anderson2021 ${without})
install(DIRECTORY "${manuals}/completions" DESTINATION "${data}/bash-completion"
    COMPONENT anderson2021 ${without})

# Python packages bring their own commands, and their archives cannot hold links.
if(NOT DEFINED SKBUILD)
    foreach(program IN LISTS ANDERSON_INSTALL_PROGRAMS)
        anderson_command_name(command ${program})
        cmake_path(RELATIVE_PATH ANDERSON_INSTALL_PRIVATE
            BASE_DIRECTORY "${CMAKE_INSTALL_BINDIR}" OUTPUT_VARIABLE folder)
        install(CODE "
            set(bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
            file(MAKE_DIRECTORY \"\${bin}\")
            file(CREATE_LINK \"${folder}/${program}\" \"\${bin}/${command}\" SYMBOLIC)
            list(APPEND CMAKE_INSTALL_MANIFEST_FILES
                \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/${command}\")"
            COMPONENT anderson2021)
    endforeach()
endif()

configure_package_config_file("${CMAKE_SOURCE_DIR}/cmake/package/anderson2021Config.cmake.in"
    "${CMAKE_BINARY_DIR}/package/anderson2021Config.cmake"
    INSTALL_DESTINATION "${ANDERSON_INSTALL_CMAKE}" PATH_VARS ANDERSON_INSTALL_WEIGHTS)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/package/anderson2021ConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/package/anderson2021Config.cmake"
    "${CMAKE_BINARY_DIR}/package/anderson2021ConfigVersion.cmake"
    DESTINATION "${ANDERSON_INSTALL_CMAKE}" COMPONENT anderson2021)

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
    BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" OUTPUT_VARIABLE ANDERSON_PC_PREFIX)
configure_file("${CMAKE_SOURCE_DIR}/cmake/package/anderson2021.pc.in"
    "${CMAKE_BINARY_DIR}/package/anderson2021.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/package/anderson2021.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT anderson2021)
