# Ranks of ours under Open MPI's launcher, over PMIx, on several hosts of the laboratory.
# timeout: 120 waits: 25
source "$VIADUCT_SOURCE/tests/net/foreign.bash"
reason=
type mpirun.openmpi >/dev/null 2>&1 || reason="Open MPI's launcher is not installed (openmpi-bin)"
to_lab "$reason"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
launch() { # its helpers call back twice and at once; a host that was busy for a moment is then taken for one behind a firewall
    mpirun.openmpi --quiet --mca plm_rsh_agent lab-rsh --mca oob_tcp_if_include eth0 \
        --mca oob_tcp_peer_retries 20 --mca oob_tcp_retry_delay 1 ${VIADUCT_TRANSPORTS:+-x VIADUCT_TRANSPORTS} ${VIADUCT_PATIENCE:+-x VIADUCT_PATIENCE} --oversubscribe \
        --host h0:6,h1:6,h2:6 --map-by node -n "$@"
}
quiet='~^([^v]|v[^i])*$' # nothing of ours; mpirun has words of its own about process groups
ordeal launch 7 5 1 137
# a program that a rank starts is no rank
expect 0 "" "~only that is one" launch 2 $VIADUCT_BUILD/tests/test-tools-hydra child
beheaded launch mpirun.openmpi
finish
