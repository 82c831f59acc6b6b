! Names in capitals, for compilers that keep them so: called here by their symbols.
program capitals
  use mpi, only: MPI_COMM_WORLD, MPI_INTEGER, MPI_SUM
  implicit none
  interface
    subroutine init(ierror) bind(C, name='MPI_INIT')
      integer :: ierror
    end subroutine
    subroutine comm_rank(comm, rank, ierror) bind(C, name='PMPI_COMM_RANK')
      integer :: comm, rank, ierror
    end subroutine
    subroutine allreduce(from, to, count, type, op, comm, ierror) bind(C, name='MPI_ALLREDUCE')
      integer :: from, to, count, type, op, comm, ierror
    end subroutine
    function wtime() bind(C, name='MPI_WTIME')
      double precision :: wtime
    end function
    subroutine finalize(ierror) bind(C, name='MPI_FINALIZE')
      integer :: ierror
    end subroutine
  end interface
  integer :: rank, ierror, total
  call init(ierror)
  call comm_rank(MPI_COMM_WORLD, rank, ierror)
  call allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. total > 0 .and. wtime() > 0) print *, 'right'
  call finalize(ierror)
end program
