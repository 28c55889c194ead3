# Compiles the installed hook (installed_hook) for the Pythons of this machine. One that cannot is no reason to fail: it
# will compile the hook at each start.
file(GLOB pythons /usr/bin/python3.[0-9] /usr/bin/python3.[0-9][0-9] /usr/local/bin/python3.[0-9] /usr/local/bin/python3.[0-9][0-9])
foreach(python IN LISTS pythons)
  execute_process(COMMAND "${python}" -I -m compileall -q -f --invalidation-mode checked-hash "${installed_hook}"
    OUTPUT_QUIET ERROR_QUIET)
endforeach()
