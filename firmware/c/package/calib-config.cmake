# calib for C: find_package(calib) gives the target calib::calib.
#
#   set(CALIB_RUST_TARGET thumbv7em-none-eabihf)   # a folder of lib/; without it, the machine that the archive was made on
#   set(CALIB_ED25519 ON)                          # signed calibrators, about 43 KB of flash
#   find_package(calib REQUIRED)
#   target_link_libraries(firmware PRIVATE calib::calib)
get_filename_component(calib_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(calib_host @HOST@)

if(CALIB_RUST_TARGET)
    set(calib_target "${CALIB_RUST_TARGET}")
elseif(CMAKE_CROSSCOMPILING)
    set(calib_FOUND FALSE)
    set(calib_NOT_FOUND_MESSAGE "CALIB_RUST_TARGET is not set. It names a folder of ${calib_prefix}/lib, such as thumbv6m-none-eabi")
    return()
else()
    set(calib_target "${calib_host}")
endif()

set(calib_name calib_c)
if(CALIB_ED25519)
    set(calib_name calib_c_ed25519)
endif()
set(calib_file "${calib_prefix}/lib/${calib_target}/lib${calib_name}.a")
if(NOT EXISTS "${calib_file}")
    set(calib_FOUND FALSE)
    set(calib_NOT_FOUND_MESSAGE "There is no ${calib_file}: another target is built from calib's sources, with CMake and cargo")
    return()
endif()

if(NOT TARGET calib::calib)
    add_library(calib::calib STATIC IMPORTED)
    set_target_properties(calib::calib PROPERTIES
        IMPORTED_LOCATION "${calib_file}"
        IMPORTED_LINK_INTERFACE_LANGUAGES C
        INTERFACE_INCLUDE_DIRECTORIES "${calib_prefix}/include")
    if(calib_target STREQUAL calib_host)
        # What Rust's standard library is linked with.
        include(CMakeFindDependencyMacro)
        find_dependency(Threads)
        set_property(TARGET calib::calib PROPERTY INTERFACE_LINK_LIBRARIES Threads::Threads ${CMAKE_DL_LIBS} m)
    endif()
endif()
