! Both modules in one file, each in a unit of its own, as in libraries that grew over the years: the same sentinels,
! types of pairs, keys of MPI-1.
subroutine modern(rank, n, wrong)
  use mpi_f08
  implicit none
  integer :: rank, n, wrong, pair(2)
  type(MPI_Request) :: request(1)
  pair = [mod(rank + 1, n), rank]
  call MPI_Allreduce(MPI_IN_PLACE, pair, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD)
  if (any(pair /= [n - 1, n - 2])) wrong = wrong + 1
  call MPI_Isend(MPI_BOTTOM, 0, MPI_2REAL, MPI_PROC_NULL, 1, MPI_COMM_WORLD, request(1))
  call MPI_Waitall(1, request, MPI_STATUSES_IGNORE)
  call MPI_Recv(pair, 2, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
end subroutine

subroutine usual(rank, n, wrong)
  use mpi
  implicit none
  integer :: rank, n, wrong, key, value, error
  real :: pair(2)
  logical :: found
  pair = [real(mod(rank + 1, n)), real(rank)]
  call MPI_Allreduce(MPI_IN_PLACE, pair, 1, MPI_2REAL, MPI_MINLOC, MPI_COMM_WORLD, error)
  if (any(pair /= [0., real(n - 1)])) wrong = wrong + 1
  call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, key, 0, error)
  call MPI_Attr_put(MPI_COMM_SELF, key, -7, error)
  value = 0
  call MPI_Attr_get(MPI_COMM_SELF, key, value, found, error)
  if (.not. found .or. value /= -7) wrong = wrong + 1
  call MPI_Attr_delete(MPI_COMM_SELF, key, error)
  call MPI_Keyval_free(key, error)
  call MPI_Recv(value, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
end subroutine

program units
  use mpi_f08, only: MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size, MPI_COMM_WORLD
  implicit none
  integer :: rank, n, wrong
  wrong = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  call modern(rank, n, wrong)
  call usual(rank, n, wrong)
  if (wrong /= 0) error stop 1
  call MPI_Finalize()
  if (rank == 0) print *, 'right'
end program
