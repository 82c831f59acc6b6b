! The module mpi has the types of mpi_f08, too: one and the same in a program that uses both. Types and operators of two
! modules would be ambiguous in the first subroutine.
subroutine typed(comm, status, right)
  use mpi, only: MPI_Comm, MPI_Status, operator(==), operator(/=)
  use mpi_f08
  implicit none
  type(MPI_Comm) :: comm
  type(MPI_Status) :: status
  logical :: right
  right = comm == MPI_COMM_SELF .and. comm /= MPI_COMM_WORLD .and. status%MPI_SOURCE == 0
end subroutine

program types
  use mpi
  implicit none
  type(MPI_Comm) :: self, world
  type(MPI_Status) :: status
  integer :: old(MPI_STATUS_SIZE), rank, ierror, wrong = 0, total, major, minor
  real :: f(4)
  logical :: right
  interface
    subroutine typed(comm, status, right)
      use mpi, only: MPI_Comm, MPI_Status
      type(MPI_Comm) :: comm
      type(MPI_Status) :: status
      logical :: right
    end subroutine
  end interface

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  self%MPI_VAL = MPI_COMM_SELF
  world%MPI_VAL = MPI_COMM_WORLD
  call check(self /= world .and. .not. self == world, 1)

  call MPI_Sendrecv(1, 1, MPI_INTEGER, 0, 5, total, 1, MPI_INTEGER, 0, 5, MPI_COMM_SELF, old, ierror)
  call MPI_Status_f2f08(old, status, ierror)
  call check(status%MPI_SOURCE == 0 .and. status%MPI_TAG == 5 .and. ierror == MPI_SUCCESS, 2)
  call typed(self, status, right)
  call check(right, 3)
  status%MPI_TAG = 6
  call PMPI_Status_f082f(status, old, ierror)
  call check(old(MPI_TAG) == 6 .and. old(MPI_SOURCE) == 0, 4)
  call PMPI_Status_f2f08(old, status, ierror)
  call MPI_Status_f082f(status, old)
  call check(status%MPI_TAG == 6 .and. old(MPI_TAG) == 6, 5)
  call PMPI_Sizeof(f, total, ierror)
  call check(total == 4, 6)
  call MPI_F_sync_reg(f)
  call PMPI_F_sync_reg(total)
  call MPI_Abi_get_version(major, minor, ierror)
  call check(major == MPI_ABI_VERSION .and. minor == MPI_ABI_SUBVERSION, 7)

  call MPI_Reduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. total == 0) print *, 'right'
  call MPI_Finalize(ierror)
contains
  include 'check.inc'
end program
