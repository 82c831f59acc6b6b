# What is installed, and the same tree in the build folder: bin, lib and include lie there as they do when installed.
# Everything finds its neighbours by relative paths, so an installed tree may be moved.
if(NOT DEFINED CMAKE_INSTALL_LIBDIR)
  set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "libraries, below the prefix") # also where a distribution has lib/<machine>
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The wrappers: once for the build folder, once for the installed tree.
function(make_wrapper folder prefix_from_bin libraries headers)
  set(BIN_TO_PREFIX ${prefix_from_bin})
  set(LIB_DIR ${libraries})
  set(INCLUDE_DIR ${headers})
  set(VERSION ${PROJECT_VERSION})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/mpicc.in ${folder}/mpicc @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  foreach(name mpicxx mpic++ mpiCC)
    file(CREATE_LINK mpicc ${folder}/${name} SYMBOLIC)
  endforeach()
endfunction()

set(installed ${CMAKE_BINARY_DIR}/installed) # files made for the installed tree
file(RELATIVE_PATH bin_to_prefix ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH lib_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" bin_to_prefix ${bin_to_prefix})
string(REGEX REPLACE "/$" "" lib_to_prefix ${lib_to_prefix})
make_wrapper(${CMAKE_BINARY_DIR}/bin .. lib include)
make_wrapper(${installed} ${bin_to_prefix} ${CMAKE_INSTALL_LIBDIR} ${CMAKE_INSTALL_INCLUDEDIR})
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include SYMBOLIC)
foreach(name mpiexec mpirun mprun)
  file(CREATE_LINK viaduct ${CMAKE_BINARY_DIR}/bin/${name} SYMBOLIC)
  file(CREATE_LINK viaduct ${installed}/${name} SYMBOLIC)
endforeach()

# pkg-config and CMake
foreach(name mpi-c mpi-cxx viaduct)
  configure_file(cmake/${name}.pc.in ${installed}/${name}.pc @ONLY)
endforeach()
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/viaduct)
configure_package_config_file(cmake/viaduct-config.cmake.in ${installed}/viaduct-config.cmake
  INSTALL_DESTINATION ${config_dir} NO_CHECK_REQUIRED_COMPONENTS_MACRO
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${installed}/viaduct-config-version.cmake COMPATIBILITY SameMinorVersion)

# The manual. For the line SETTINGS of viaduct(7) stands every VIADUCT_ variable, as the tool lists them from the table.
file(GLOB pages CONFIGURE_DEPENDS docs/man/*.[1-9])
foreach(page ${pages})
  get_filename_component(name ${page} NAME)
  string(REGEX MATCH "[1-9]$" section ${name})
  configure_file(${page} ${installed}/man/${name} @ONLY)
  if(name STREQUAL viaduct.7 AND TARGET viaduct_tool AND NOT VIADUCT_SANITIZE)
    set(page_made ${installed}/made/${name})
    add_custom_command(OUTPUT ${page_made} DEPENDS ${page} viaduct_tool cmake/manual.cmake VERBATIM
      COMMAND ${CMAKE_COMMAND} "-DTOOL=${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:viaduct_tool>" -DPAGE=${installed}/man/${name}
              -DOUTPUT=${page_made} -P ${CMAKE_SOURCE_DIR}/cmake/manual.cmake)
    add_custom_target(manual ALL DEPENDS ${page_made})
    install(FILES ${page_made} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  else()
    install(FILES ${installed}/man/${name} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endif()
endforeach()
foreach(link mpirun:mpiexec mprun:mpiexec mpicxx:mpicc)
  string(REPLACE ":" ";" pair ${link})
  list(GET pair 0 name)
  list(GET pair 1 target)
  if(EXISTS ${CMAKE_SOURCE_DIR}/docs/man/${target}.1)
    file(WRITE ${installed}/man/${name}.1 ".so man1/${target}.1\n")
    install(FILES ${installed}/man/${name}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
endforeach()

install(TARGETS viaduct DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET mpi_abi)
  install(TARGETS mpi_abi DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET viaduct_tool)
  install(TARGETS viaduct_tool DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
foreach(preload sock profile)
  if(TARGET ${preload})
    install(TARGETS ${preload} DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
install(PROGRAMS ${installed}/mpicc DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(name mpicxx mpic++ mpiCC mpiexec mpirun mprun)
  install(FILES ${installed}/${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${installed}/mpi-c.pc ${installed}/mpi-cxx.pc ${installed}/viaduct.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${installed}/viaduct-config.cmake ${installed}/viaduct-config-version.cmake DESTINATION ${config_dir})
file(GLOB documents CONFIGURE_DEPENDS *.md LICENSE)
file(GLOB chapters CONFIGURE_DEPENDS docs/*.md)
install(FILES ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${chapters} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs) # as their links say
file(GLOB results CONFIGURE_DEPENDS bench/results/*.md)
install(FILES ${results} DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench/results)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.c")
