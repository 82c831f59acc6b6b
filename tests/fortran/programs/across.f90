! The Fortran half of across.c: handles, statuses, attributes and operations that C made, and that C looks at later.
subroutine in_fortran(comm, key, op, status, wrong)
  use mpi
  implicit none
  integer :: comm, key, op, status(MPI_STATUS_SIZE), wrong
  integer :: size, ierror, mine, own, x, y
  integer(MPI_ADDRESS_KIND) :: value
  logical :: flag
  call MPI_Comm_size(comm, size, ierror)
  call MPI_Comm_get_attr(comm, key, value, flag, ierror) ! of C: the pointer's own value
  if (.not. flag .or. value /= 4711) wrong = wrong + 1
  call MPI_Comm_set_attr(comm, key, -99_MPI_ADDRESS_KIND, ierror)
  if (status(MPI_SOURCE) /= 3 .or. status(MPI_TAG) /= 5) wrong = wrong + 1
  x = 2
  call MPI_Allreduce(x, y, 1, MPI_INTEGER, op, comm, ierror)
  if (y /= 2**size) wrong = wrong + 1
  call MPI_Comm_split(comm, 0, 0, own, ierror)
  call MPI_Comm_rank(own, mine, ierror)
  comm = own
end subroutine
