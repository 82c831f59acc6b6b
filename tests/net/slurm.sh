# Ranks of ours under Slurm, over PMI-1 (its plugin pmi2) and over its PMIx, on several hosts of the laboratory, with a cluster made for it: munge,
# a controller and a daemon on each host, all in a folder of the test. The laboratory takes them away, however the test ends.
# timeout: 300 waits: 60
source "$VIADUCT_SOURCE/tests/net/foreign.bash"
unpacked=$VIADUCT_SOURCE/build/slurm # by scripts/need, where it is not installed
if [ -d "$unpacked" ]; then
    mkdir $work/bin
    for program in "$unpacked"/usr/sbin/* "$unpacked"/usr/bin/*; do ln -s "$program" $work/bin/$(basename "${program%-wlm}"); done
    PATH=$work/bin:$PATH
    plugins=$(find "$unpacked/usr/lib" -type d -name slurm-wlm | head -1)
    export LD_LIBRARY_PATH=$plugins${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
reason=
for tool in munged slurmctld slurmd srun; do
    type $tool >/dev/null 2>&1 || reason="Slurm is not installed ($tool; scripts/need check unpacks it)"
done
[ "$(id -u)" -eq 0 ] || reason="a cluster of Slurm for several hosts needs root"
to_lab "$reason"
sorted() { "$@" | sort; }

mkdir $work/state $work/spool && chmod 755 $work
head -c 128 /dev/urandom >$work/key && chmod 600 $work/key
munged --force --key-file=$work/key --socket=$work/munge --pid-file=$work/munge.pid --log-file=$work/munge.log \
    --seed-file=$work/seed --num-threads=2 2>/dev/null || fail "munged"
cat >$work/slurm.conf <<END
ClusterName=lab
SlurmctldHost=h0(10.77.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge
${plugins:+PluginDir=$plugins}
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool/%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_res
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName=h0 NodeAddr=10.77.0.1 CPUs=16
NodeName=h1 NodeAddr=10.77.0.2 CPUs=16
NodeName=h2 NodeAddr=10.77.0.3 CPUs=16
PartitionName=all Nodes=ALL Default=YES State=UP
END
echo CgroupPlugin=cgroup/v1 >$work/cgroup.conf # it is not used, but looked for
echo PMIxCliTmpDirBase=/srv >$work/mpi.conf          # its name there is the same on all hosts, which here share one /tmp
export SLURM_CONF=$work/slurm.conf
slurmctld -i || fail "slurmctld"
for host in h0 h1 h2; do
    lab-rsh $host mount -t tmpfs lab /srv
    lab-rsh $host env LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}" SLURM_CONF=$SLURM_CONF slurmd ${plugins:+-d $work/bin/slurmstepd} \
        -N $host || fail "slurmd on $host"
done
idle() { [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; }
eventually 20 idle || { fail "the cluster is not ready: $(sinfo -h; tail -n 3 $work/*.log)"; finish; }

# -K: a rank that was killed ends the job; Slurm's own standard is to wait for the others.
launch() { srun -Q -K --mpi=pmi2 -N "$(($1 < 3 ? $1 : 3))" --distribution=cyclic -n "$@"; }
ordeal launch '~^(7|137|143)$' '~^(5|137|143)$' '~^(1|137|143)$' 143 # by KILL or, who was quick to end, by TERM
launch() { srun -Q --mpi=pmi2 -N 2 -n "$@"; } # without it, whoever can still speak ends the job
soon '~^(137|143)$' "~" "~rank 1 on h. ends the job: MPI_Abort" launch 3 $programs/victim 1 -2 loop
soon '~^(137|143)$' "~" "~rank 1 on h. ends the job: the program ended without MPI_Finalize" launch 3 $programs/victim 1 -1 barrier

# its PMIx, with libpmix
launch() { srun -Q -K --mpi=pmix -N "$(($1 < 3 ? $1 : 3))" --distribution=cyclic -n "$@"; }
ordeal launch '~^(7|137|143)$' '~^(5|137|143)$' '~^(1|137|143)$' '~^(137|143)$'

# Our own launcher in a job of Slurm: on the hosts and with the slots of the job, which srun reaches.
allocated() { salloc -Q -N 3 --ntasks-per-node=2 "$@"; }
soon 0 "6 met" "" allocated $mpiexec $programs/meet
soon 0 "4 met" "" allocated $mpiexec -ppn 1 -n 4 $programs/meet
expect 0 $'h0\nh0\nh1\nh1\nh2\nh2' "" sorted allocated $mpiexec uname -n
expect 0 $'h1\nh2' "" sorted allocated $mpiexec -host h1,h2 uname -n
expect 0 h0 "" allocated $mpiexec -rmk none uname -n
# options of other steps, and variables of the first host, do not reach the steps of ours
expect 0 "$(nproc) here" "" allocated env HOSTNAME=h0 SRUN_CPUS_PER_TASK=1 SLURM_CPUS_PER_TASK=1 SLURM_EXACT=1 SLURM_LABELIO=1 \
    $mpiexec -n 1 -host h1 sh -c 'echo $(nproc) ${HOSTNAME:-here}'
seq 1 300000 >$work/numbers # over srun, byte for byte
allocated $mpiexec -host h1 cat <$work/numbers >$work/got || fail "cat over srun"
cmp -s $work/numbers $work/got || fail "input over srun is not the same"
soon 7 "" "~rank 1 .* on h0. ended the job with status 7: MPI_Abort" allocated $mpiexec $programs/victim 1 -2 loop

launch() { allocated $mpiexec -n "$@"; }
beheaded launch mpiexec

# No protocol offered: said once a rank, and never so many jobs of one rank.
for none in --mpi=none ""; do
    soon 1 "" "~started by Slurm's srun .SLURM_STEP_NUM_TASKS=3., .* use srun --mpi=pmi2" srun -Q $none -N 3 -n 3 $programs/meet
done
soon 0 "1 met" "" srun -Q -n 1 $programs/meet
finish
