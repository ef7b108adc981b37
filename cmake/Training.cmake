# Samples, the trainer and the small tools for weights, none of which needs libHalide; and the
# program that makes samples, which does.

# Not one of the plugin's layers.
set(plugin_layers ${ANDERSON_LAYERS})
anderson_layer(training)
set(ANDERSON_LAYERS ${plugin_layers})

set(ANDERSON_TRAINING_OBJECTS "")
foreach(layer training costmodel features support)
    list(APPEND ANDERSON_TRAINING_OBJECTS $<TARGET_OBJECTS:anderson_${layer}>)
endforeach()

# anderson_tool(<name>): src/tools/<name>.cpp
function(anderson_tool name)
    add_executable(${name} "${CMAKE_SOURCE_DIR}/src/tools/${name}.cpp"
        ${ANDERSON_TOOL_SOURCES} ${ARGN})
    target_include_directories(${name} PRIVATE "${ANDERSON_GENERATED}")
    target_link_libraries(${name} PRIVATE anderson_options ${ANDERSON_TRAINING_OBJECTS}
        ${ANDERSON_COST_MODEL_LIBRARIES})
endfunction()

foreach(tool retrain_cost_model distill_weights weightsdir_to_weightsfile check_weights weights_info
        featurization_to_sample)
    if(EXISTS "${CMAKE_SOURCE_DIR}/src/tools/${tool}.cpp")
        anderson_tool(${tool})
    endif()
endforeach()

# An object library, because only position-independent code can use the precompiled Halide.h.
file(GLOB sampling_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/tools/with_compiler/*.cpp")
add_library(sampling OBJECT ${sampling_sources} ${ANDERSON_TOOL_SOURCES}
    "${CMAKE_SOURCE_DIR}/src/plugin/options_parser.cpp")
target_include_directories(sampling PRIVATE "${ANDERSON_GENERATED}")
target_link_libraries(sampling PRIVATE anderson_halide)
target_precompile_headers(sampling REUSE_FROM anderson_halide_pch)

set(sampling_layers ${ANDERSON_LAYERS})
list(REMOVE_ITEM sampling_layers backend lowering)
add_executable(generate_samples $<TARGET_OBJECTS:sampling> $<TARGET_OBJECTS:anderson_training>)
foreach(layer IN LISTS sampling_layers)
    target_link_libraries(generate_samples PRIVATE $<TARGET_OBJECTS:anderson_${layer}>)
endforeach()
target_link_libraries(generate_samples PRIVATE
    anderson_options ${ANDERSON_COST_MODEL_LIBRARIES} Halide::Halide ${CMAKE_DL_LIBS})
# Generators that are loaded register with the one libHalide of the process.
set_target_properties(generate_samples PROPERTIES
    BUILD_RPATH "$<TARGET_FILE_DIR:Halide::Halide>" POSITION_INDEPENDENT_CODE ON)

# The applications' generators as a library for generate_samples.
file(GLOB app_generators CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/apps/*/*_generator.cpp")
add_library(app_generators MODULE EXCLUDE_FROM_ALL ${app_generators})
target_include_directories(app_generators SYSTEM PRIVATE
    $<TARGET_PROPERTY:Halide::Halide,INTERFACE_INCLUDE_DIRECTORIES>)
target_include_directories(app_generators PRIVATE "${CMAKE_SOURCE_DIR}/apps")
target_link_libraries(app_generators PRIVATE Halide::Generator)
set_target_properties(app_generators PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET default)
