# Writes the page OUTPUT from PAGE, with what `TOOL info --settings-man` prints for its line SETTINGS.
execute_process(COMMAND ${TOOL} info --settings-man OUTPUT_VARIABLE settings RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR settings STREQUAL "")
  message(FATAL_ERROR "${TOOL} info --settings-man: ${status}")
endif()
file(READ ${PAGE} page)
string(REPLACE "\nSETTINGS\n" "\n${settings}" page "${page}")
file(WRITE ${OUTPUT} "${page}")
