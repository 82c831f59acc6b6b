# Programs of another library under our launcher, and ours under another launcher (hydra), where MPICH is installed.
# timeout: 90
source "$VIADUCT_SOURCE/tests/lib/shell"
type mpicc.mpich mpiexec.mpich >/dev/null 2>&1 || skip "MPICH is not installed (apt install mpich libmpich-dev)"

cat >$work/ring.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size, sum, *appnum, found;
    char port[MPI_MAX_PORT_NAME] = "here";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &found);
    if (argc > 1 && atoi(argv[1]) == 1 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (argc > 1 && atoi(argv[1]) == 2 && rank == 1)
        exit(0);
    if (argc > 1 && atoi(argv[1]) == 3) { /* names are published and looked up; starting more ranks is refused */
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (rank == 0)
            MPI_Publish_name("service", MPI_INFO_NULL, "harbour");
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Lookup_name("service", MPI_INFO_NULL, port);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Unpublish_name("service", MPI_INFO_NULL, "harbour");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d/%d %d app %d %s\n", rank, size, sum, found ? *appnum : -1, port);
    MPI_Finalize();
    return 0;
}
END
mpicc.mpich -O1 "$work/ring.c" -o "$work/ring" || { echo "mpicc.mpich does not compile"; exit 1; }
mpiexec="$mpiexec --abi=none" # MPICH's own library, by PMI-1

expect 0 $'0/3 3 app 0 here\n1/3 3 app 0 here\n2/3 3 app 0 here' "" sh -c "$mpiexec -n 3 $work/ring | sort"
expect 0 $'0/2 1 app 0 here\n1/2 1 app 1 here' "" sh -c "$mpiexec -n 1 $work/ring : -n 1 $work/ring | sort"
expect 0 "~^.*harbour.*harbour$" "" sh -c "$mpiexec -n 2 $work/ring 3 | sort | tr '\n' ' ' | sed 's/ $//'"
expect 7 "" "~rank 1 .*ended the job with status 7" $mpiexec -n 3 $work/ring 1
expect 1 "" "~rank 1 .*ended without MPI_Finalize, with exit status 0" $mpiexec -n 3 $work/ring 2
expect 0 "~2/12 66" "" $mpiexec -n 12 $work/ring

# hydra inside of a rank of ours, ours inside of a rank of hydra
expect 0 $'0/2 1 app 0 here\n1/2 1 app 0 here' "" sh -c "$mpiexec -n 1 mpiexec.mpich -n 2 $work/ring | sort"
expect 0 $'0/2 1 app 0 here\n1/2 1 app 0 here' "" sh -c "mpiexec.mpich -n 1 $mpiexec -n 2 $work/ring | sort"

# hydra itself dies of SIGPIPE, with no word, in one of a hundred jobs as short as these, whatever they run: once more then
hydra()
{
    for try in 1 2 3; do
        mpiexec.mpich "$@"
        local status=$?
        [ $status = 141 ] || break
    done
    return $status
}

# our ranks under hydra, over its PMI-1
boot=$VIADUCT_BUILD/tests/test-tools-hydra
for ranks in 1 2 7; do
    expect 0 "~^ok [0-9]+ of $ranks" "" hydra -n $ranks $boot rank
done
# (a shell between, as the status of hydra is its own)
expect 0 $'status 1\nstatus 1' "~called by its port .*use mpiexec without -pmi-port" \
    hydra -pmi-port -n 2 sh -c "$boot rank; echo status \$?"
# (that hydra passes on the last words of a rank is not sure)
expect 9 "~" "~" hydra -n 2 $boot abort
expect 0 "" "~PMI_FD=[0-9]+ is no open connection" hydra -n 1 $boot child
finish
