# Writes OUTPUT with BUILD_ID, 16 hexadecimal digits of a hash over every file below SOURCES and over OPTIONS. The same
# sources give the same identity on every machine.
file(GLOB_RECURSE files ${SOURCES}/*.c ${SOURCES}/*.h ${SOURCES}/*.def)
list(SORT files)
set(sum "${OPTIONS}")
foreach(file ${files})
  file(SHA256 ${file} hash)
  string(APPEND sum "${hash}")
endforeach()
string(SHA256 sum "${sum}")
string(SUBSTRING ${sum} 0 16 id)
file(WRITE ${OUTPUT} "#define BUILD_ID \"${id}\"\n")
