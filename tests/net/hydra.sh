# Ranks of ours under hydra, over PMI-1, on several hosts of the laboratory.
# timeout: 120
#
source "$VIADUCT_SOURCE/tests/net/foreign.bash"
reason=
type mpiexec.hydra >/dev/null 2>&1 || reason="hydra is not installed (mpich)"
to_lab "$reason"

# Hydra dies of SIGPIPE where a program ends before it has said everything to its proxies.
launch() { (trap "" PIPE && exec mpiexec.hydra -launcher rsh -launcher-exec lab-rsh -iface eth0 -hosts h0,h1,h2 -ppn 1 -n "$@"); }
ordeal launch 7 5 1 '~^(9|137|255)$' # 255: a proxy that was not asked to end says so
beheaded launch mpiexec.hydra
finish
