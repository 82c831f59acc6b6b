/* What `viaduct run --help` prints. */
#ifndef TOOLS_RUN_HELP_H
#define TOOLS_RUN_HELP_H

static const char run_help[] =
    "usage: viaduct run [FLAGS] PROGRAM [ARGUMENTS] [: [FLAGS] PROGRAM ...]      (also: mpiexec, mpirun, mprun)\n"
    "\n"
    "Starts ranks on this host, or on those that are named. Any number of them, on any number of processors, as any user.\n"
    "One dash or two, \"--flag value\" or \"--flag=value\".\n"
    "\n"
    "  -n N  -np N              ranks of this program (standard: 1)\n"
    "  -ppn N  -N N             ranks per host, where -n is not given\n"
    "  -host LIST  -hostfile F  hosts: a:4,b, or lines \"a slots=4\" or \"a:4\"\n"
    "  --agent COMMAND          what reaches other hosts (standard: ssh, or as HYDRA_LAUNCHER_EXEC or\n"
    "                           OMPI_MCA_plm_rsh_agent say)\n"
    "  -wdir DIR                where ranks begin\n"
    "  -path DIRS               where the program is looked for first\n"
    "  -configfile F  --app F   programs from a file, one a line\n"
    "\n"
    "  -x NAME[=VALUE]          a variable for the ranks; all of yours are passed on anyway\n"
    "  -env N V  -genv N V      the same: for this program, for all\n"
    "  -envlist A,B -genvlist   pass on only these;  -envnone -genvnone: none\n"
    "\n"
    "  -l  --tag-output         begin each line with its rank;  -prepend-pattern P: with P (%r rank, %h host)\n"
    "  --timestamp-output       begin each line with the time\n"
    "  -outfile-pattern P       the output of each rank to a file (%r rank, %h host);  -errfile-pattern P\n"
    "  --output-filename DIR    the same: DIR/1/rank.N/stdout and stderr\n"
    "  --merge-stderr-to-stdout\n"
    "  --stdin RANK|none        who reads our standard input, untouched (standard: rank 0)\n"
    "\n"
    "  --bind-to WHAT           none (standard), hwthread, core, l2, l3, numa, socket; WHAT:N for N of them to a rank\n"
    "  --map-by WHAT            in which order ranks take them: core (neighbours first), socket, numa (spread)\n"
    "  --cpu-list 0-3,8         use only these processors\n"
    "  --report-bindings\n"
    "\n"
    "  --timeout SECONDS        end the job then, with status 124 (also: MPIEXEC_TIMEOUT)\n"
    "  -print-all-exitcodes     how every rank ended\n"
    "  -disable-auto-cleanup    a failed rank does not end the job\n"
    "\n"
    "Flags of other launchers that have no meaning here (--oversubscribe, --allow-run-as-root, --mca K V, -iface I, ...)\n"
    "are accepted. Exit status: of the rank that failed first; 128 + signal if a signal ended it; 124 on time-out; 127 if\n"
    "the program is not found; 2 if the command line is wrong.\n";

#endif
