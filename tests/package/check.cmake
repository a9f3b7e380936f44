# Installs the build tree, then configures, builds and runs the project in this folder against it.
# Takes -D build=..., work=..., generator=..., compiler=...

function(step)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${work})
step(${CMAKE_COMMAND} --install ${build} --prefix ${work}/installed)
step(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build -G ${generator}
     -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_PREFIX_PATH=${work}/installed)
step(${CMAKE_COMMAND} --build ${work}/build)
step(${work}/build/outside)
step(${work}/installed/bin/stoker --version)
