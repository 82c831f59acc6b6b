#!/bin/sh
# Writes mpi_f08.f90, mpi.f90, mpif.h and mplite.f90: constants from mpi.h, interfaces from the table of
# calls by way of modules.def.
#   modules.sh COMPILER SOURCE FOLDER     COMPILER: of C, for its preprocessor
set -eu
compiler=$1 source=$2 folder=$3
mkdir -p "$folder"
handles='Comm Datatype Errhandler File Group Info Message Op Request Session Win'

# Each constant: NAME, TYPE (a handle's, or "integer"), VALUE. Texts are one shorter, as there is no zero behind them.
constants() {
    awk '
    function number(text, i, value) {
        if (text !~ /^0x/)
            return text
        for (i = 3; i <= length(text); i++)
            value = value * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
        return value
    }
    $1 == "#define" && $2 ~ /^MPI_[A-Z2]/ && $2 !~ /^MPI_(T|F|Fint|H)_|_$|_FN|IGNORE|_NULL_C$|^MPI_H$/ {
        value = $3
        if (value ~ /^\(\(MPI_[A-Za-z]+\)/) {
            type = value
            gsub(/^\(\(MPI_|\).*$/, "", type)
            gsub(/^\(\([A-Za-z_]*\)|\)$/, "", value)
            print $2, type, number(value)
        } else {
            gsub(/[()]/, "", value)
            if (value ~ /^-?[0-9]+$/)
                print $2, "integer", $2 ~ /^MPI_MAX_/ ? value - 1 : value
        }
    }
    END {
        print "MPI_STATUS_SIZE integer 8\nMPI_SOURCE integer 1\nMPI_TAG integer 2\nMPI_ERROR integer 3"
        print "MPI_ADDRESS_KIND integer 8\nMPI_COUNT_KIND integer 8\nMPI_OFFSET_KIND integer 8"
        print "MPI_INTEGER_KIND integer 4"
    }' "$source/include/mpi.h"
}

interfaces() { # FORM [FILE]
    "$compiler" -E -P -x c -DFORM="$1" -I"$source/src" "$source/src/${2:-fortran/modules.def}" | tr '\n' ' ' | tr '@' '\n' |
        sed 's/^ *//; s/ *$//; s/  */ /g; s/( *\. *\. *)/(..)/; s/:: *\*/:: */; s/, ,/,/g; /^$/d'
}

wrapped() { # free form: a long line goes on behind a comma
    awk '{
        line = $0
        while (length(line) > 110) {
            for (at = 105; at > 0 && substr(line, at, 1) != ","; at--);
            print substr(line, 1, at) " &"
            line = "  " substr(line, at + 1)
        }
        print line
    }'
}

both_forms() { # fixed and free: columns 7 to 72, and an ampersand in 73 and in 6
    awk '/^!/ { print; next }
    {
        line = $0
        first = 1
        while (length(line) > 60) {
            for (at = 60; at > 1 && substr(line, at, 1) !~ /[, ]/; at--);
            printf "%s%-66s&\n", first ? "      " : "     &", substr(line, 1, at)
            line = substr(line, at + 1)
            first = 0
        }
        print (first ? "      " : "     &") line
    }'
}

sentinels() { # NAME, what is before the name in a declaration of each of the three, SHAPE
    cat <<END
MPI_BOTTOM integer integer
MPI_IN_PLACE integer integer
MPI_BUFFER_AUTOMATIC integer integer
MPI_STATUS_IGNORE type(MPI_Status) integer (8)
MPI_STATUSES_IGNORE type(MPI_Status) integer (8,1) (1)
MPI_UNWEIGHTED integer integer (1) (1)
MPI_WEIGHTS_EMPTY integer integer (1) (1)
MPI_ERRCODES_IGNORE integer integer (1) (1)
MPI_ARGV_NULL character character (1) (1)
MPI_ARGVS_NULL character character (1,1) (1,1)
END
}
# Compilers let one file use several of the three only if all have it so: not with bind(C).
in_common() { # DECLARATION NAME SHAPE
    echo "$1 $2$3"
    echo "common /$(printf 'viaduct_%s' "$2" | tr '[:upper:]' '[:lower:]')/ $2"
}

supported() { # whether sections move as they are
    echo "logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .$1., MPI_ASYNC_PROTECTS_NONBLOCKING = .$1."
}

types() { # of both modules, so they are one type in a program that uses both
    echo 'module viaduct_types'
    echo 'use, intrinsic :: iso_c_binding, only: c_int'
    echo 'implicit none'
    echo 'private c_int'
    echo 'type, bind(C) :: MPI_Status'
    echo 'integer(c_int) :: MPI_SOURCE, MPI_TAG, MPI_ERROR'
    echo 'integer(c_int) :: MPI_internal(5)'
    echo 'end type'
    for type in $handles; do
        echo "type, bind(C) :: MPI_$type"
        echo 'integer(c_int) :: MPI_VAL'
        echo 'end type'
        for operator in ==:same /=:other; do
            function=viaduct_${type}_${operator#*:}
            echo "interface operator(${operator%:*})"
            printf '%s\n' "elemental function $function(a, b)" import "type(MPI_$type), intent(in) :: a, b" \
                "logical :: $function" 'end function' 'end interface'
        done
    done
    for p in MPI PMPI; do
        echo 'interface'
        echo "subroutine ${p}_Status_f2f08(f_status, f08_status, ierror)"
        printf '%s\n' import 'integer, intent(in) :: f_status(8)' 'type(MPI_Status), intent(out) :: f08_status'
        printf '%s\n' 'integer, optional, intent(out) :: ierror' 'end subroutine'
        echo "subroutine ${p}_Status_f082f(f08_status, f_status, ierror)"
        printf '%s\n' import 'type(MPI_Status), intent(in) :: f08_status' 'integer, intent(out) :: f_status(8)'
        printf '%s\n' 'integer, optional, intent(out) :: ierror' 'end subroutine' 'end interface'
    done
    echo 'end module'
}

{
    echo '! MPI for Fortran 2008 and later. Made from the table of calls.'
    echo 'module mpi_f08'
    echo 'use, intrinsic :: iso_c_binding, only: c_ptr'
    echo 'use viaduct_types'
    echo 'implicit none'
    constants | awk '$2 == "integer" { print "integer, parameter :: " $1 " = " $3 }'
    supported true
    constants | awk '$2 != "integer" { print "type(MPI_" $2 "), parameter :: " $1 " = MPI_" $2 "(" $3 ")" }'
    sentinels | while read -r name f08 plain shape last; do
        case $f08 in type*) shape=${last:-} ;; esac
        in_common "$f08, target ::" "$name" "${shape:-}"
    done
    interfaces F08
    echo 'end module'
} | wrapped >"$folder/mpi_f08.f90"

{
    echo '! MPI for Fortran 90, and the types that mpi_f08 has, too. Made from the table of calls.'
    types
    echo 'module mpi'
    echo 'use viaduct_types'
    echo 'implicit none'
    constants | awk '{ print "integer, parameter :: " $1 " = " $3 }'
    supported false
    sentinels | while read -r name f08 plain shape last; do
        in_common "$plain, target ::" "$name" "${shape:-}"
    done
    interfaces MODULE
    echo 'end module'
} | wrapped >"$folder/mpi.f90"

{
    echo '! MPI for fixed and free form. Made from the table of calls.'
    {
        constants | awk '{ print "integer " $1; print "parameter (" $1 "=" $3 ")" }'
        echo 'logical MPI_SUBARRAYS_SUPPORTED'
        echo 'parameter (MPI_SUBARRAYS_SUPPORTED=.false.)'
        echo 'logical MPI_ASYNC_PROTECTS_NONBLOCKING'
        echo 'parameter (MPI_ASYNC_PROTECTS_NONBLOCKING=.false.)'
        sentinels | while read -r name f08 plain shape last; do
            in_common "$plain" "$name" "${shape:-}"
        done
        echo 'double precision MPI_WTIME, PMPI_WTIME, MPI_WTICK, PMPI_WTICK'
        echo 'external MPI_WTIME, PMPI_WTIME, MPI_WTICK, PMPI_WTICK'
        echo 'integer(8) MPI_AINT_ADD, PMPI_AINT_ADD, MPI_AINT_DIFF, PMPI_AINT_DIFF'
        echo 'external MPI_AINT_ADD, PMPI_AINT_ADD, MPI_AINT_DIFF, PMPI_AINT_DIFF'
        for name in COMM_ TYPE_ WIN_ ''; do
            echo "external MPI_${name}NULL_COPY_FN, MPI_${name}DUP_FN, MPI_${name}NULL_DELETE_FN"
        done
        echo 'external MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL_C'
        interfaces HEADER
    } | both_forms
} >"$folder/mpif.h"

{
    echo '! The small message-passing interface of mplite.h. Made from its table.'
    echo 'module mplite'
    echo 'implicit none'
    interfaces MODULE fortran/mplite/module.def
    echo 'end module'
} | wrapped >"$folder/mplite.f90"
