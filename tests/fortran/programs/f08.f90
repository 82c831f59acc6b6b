! mpi_f08: handles have types, ierror may be left out, sections move as they are, counts of both sizes.
module functions
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
contains
  subroutine largest(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    if (datatype == MPI_INTEGER) b = max(a, b)
  end subroutine
end module

program f08
  use functions
  implicit none
  integer :: rank, n, next, before, wrong = 0, total, i, j, error, class
  integer :: a(6, 8), b(6, 8), c(3), line(12)
  type(MPI_Comm) :: dup, grid
  type(MPI_Request) :: request(2)
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Op) :: op
  type(MPI_Info) :: info
  type(MPI_Datatype) :: types(4), made, inner(1)
  integer :: numbers(6), combiner, f_status(MPI_STATUS_SIZE)
  integer(MPI_COUNT_KIND) :: many(4)
  integer(MPI_ADDRESS_KIND) :: at(1)
  type(MPI_Session) :: session
  type(MPI_Group) :: group
  integer :: counts(4), places(4)
  logical :: flag
  integer(MPI_COUNT_KIND) :: elements
  character(len=16) :: text
  procedure(MPI_User_function), pointer :: function => largest

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  next = mod(rank + 1, n)
  before = mod(rank + n - 1, n)
  a = reshape([(100 * rank + i, i = 1, 48)], [6, 8])

  ! sections of both sides, not of one shape, blocking and not
  b = -1
  call MPI_Irecv(b(1:6:5, 1:8:2), 8, MPI_INTEGER, before, 1, MPI_COMM_WORLD, request(1))
  call MPI_Isend(a(2:6:4, 8:2:-2), 8, MPI_INTEGER, next, 1, MPI_COMM_WORLD, request(2))
  call MPI_Waitall(2, request, statuses)
  call check(all(b(1:6:5, 1:8:2) == a(2:6:4, 8:2:-2) + 100 * (before - rank)), 1)
  call check(count(b /= -1) == 8, 2)
  call check(statuses(1)%MPI_SOURCE == before .and. statuses(1)%MPI_TAG == 1, 3)
  call check(all(request == MPI_REQUEST_NULL) .and. .not. any(request(2:) /= [MPI_REQUEST_NULL]), 31)
  call MPI_Get_count(statuses(1), MPI_INTEGER, elements)
  call check(elements == 8, 4)

  ! a count that ends within a section
  b = -1
  call MPI_Sendrecv(a(1:5:2, 2:8:3), 5, MPI_INTEGER, next, 2, b(3, :), 5_4, MPI_INTEGER, before, 2, MPI_COMM_WORLD, status)
  call check(all(b(3, 1:5) == [7, 9, 11, 25, 27] + 100 * before) .and. all(b(3, 6:8) == -1), 5)

  ! what cannot be moved is refused
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Allreduce(a(1:6:2, 1), c, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Error_class(error, class)
  call check(class == MPI_ERR_BUFFER, 6)
  call MPI_Send(a(1:6:2, 1), 4, MPI_INTEGER, next, 3, MPI_COMM_WORLD, error)
  call check(error /= MPI_SUCCESS, 7)

  call MPI_Op_create(largest, .true., op)
  line = [(mod(rank + i, n), i = 1, 12)]
  call MPI_Allreduce(MPI_IN_PLACE, line, 12, MPI_INTEGER, op, MPI_COMM_WORLD)
  call check(all(line == n - 1), 8)
  call MPI_Op_free(op)
  call check(op == MPI_OP_NULL .and. MPI_COMM_WORLD /= MPI_COMM_SELF, 9)

  call MPI_Comm_dup(MPI_COMM_WORLD, dup)
  call MPI_Comm_set_name(dup, 'a name  ')
  call MPI_Comm_get_name(dup, text, i)
  call check(text == 'a name' .and. i == 6, 10)
  call MPI_Bcast(a, 48_MPI_COUNT_KIND, MPI_INTEGER, 0, dup)
  call check(a(1, 1) == 1, 11)
  call MPI_Comm_free(dup)
  call check(dup == MPI_COMM_NULL, 12)

  call MPI_Cart_create(MPI_COMM_WORLD, 1, [n], [.true.], .false., grid)
  call MPI_Cart_shift(grid, 0, 1, i, j)
  call check(i == before .and. j == next, 13)
  call MPI_Topo_test(grid, i)
  call check(i == MPI_CART, 14)
  ! two neighbours each way in the arrays of datatypes
  types = MPI_INTEGER
  counts = 1
  c = 0
  line(1:2) = [rank, rank + 10]
  call MPI_Neighbor_alltoallw(line, counts, [0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND], types, c, counts, &
                              [0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND], types, grid)
  call check(c(1) == before + 10 .and. c(2) == next, 15)
  call MPI_Comm_free(grid)

  call MPI_Info_create(info)
  call MPI_Info_set(info, 'key', 'value')
  i = 16
  call MPI_Info_get_string(info, 'key', i, text, flag)
  call check(flag .and. text == 'value' .and. i == 5, 16)
  call MPI_Info_free(info)

  places = 0
  call MPI_Pack(a(1:6:2, 1), 3, MPI_INTEGER, line, 48, places(1), MPI_COMM_WORLD)
  call check(places(1) == 12 .and. all(line(1:3) == a(1:6:2, 1)), 17)
  b = 0
  places(1) = 0
  call MPI_Unpack(line, 48, places(1), b(6:1:-2, 2), 3, MPI_INTEGER, MPI_COMM_WORLD)
  call check(all(b(6:1:-2, 2) == line(1:3)), 18)
  elements = 0
  call MPI_Pack_external('external32', a(1:6:2, 1), 3, MPI_INTEGER, line, 48_MPI_ADDRESS_KIND, elements)
  call check(elements == 12, 19)

  call MPI_Test(request(1), flag, MPI_STATUS_IGNORE)
  call check(flag, 20)
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', group)
  call MPI_Group_size(group, i)
  call check(i == n, 21)
  call MPI_Group_free(group)
  call MPI_Session_finalize(session)
  call check(session == MPI_SESSION_NULL .and. associated(function), 22)

  ! what a datatype was made of, in both sizes
  call MPI_Type_vector(2_MPI_COUNT_KIND, 3_MPI_COUNT_KIND, 5_MPI_COUNT_KIND, MPI_REAL, made)
  call MPI_Type_get_envelope(made, many(1), many(2), many(3), many(4), combiner)
  call check(combiner == MPI_COMBINER_VECTOR .and. all(many == [0, 0, 3, 1]), 23)
  call PMPI_Type_get_contents(made, 0_MPI_COUNT_KIND, 0_MPI_COUNT_KIND, 3_MPI_COUNT_KIND, 1_MPI_COUNT_KIND, &
                              numbers, at, many, inner)
  call check(all(many(1:3) == [2, 3, 5]) .and. inner(1) == MPI_REAL, 24)
  call MPI_Type_free(made)
  call MPI_Type_contiguous(7, MPI_INTEGER, made)
  call PMPI_Type_get_envelope(made, numbers(1), numbers(2), numbers(3), combiner)
  call check(combiner == MPI_COMBINER_CONTIGUOUS .and. all(numbers(1:3) == [1, 0, 1]), 25)
  call MPI_Type_get_contents(made, 1, 0, 1, numbers, at, inner)
  call check(numbers(1) == 7 .and. inner(1) == MPI_INTEGER, 26)
  call MPI_Type_free(made)

  ! both forms of a status, and profiling names
  call PMPI_Status_f082f(statuses(1), f_status)
  call check(f_status(MPI_SOURCE) == before .and. f_status(MPI_TAG) == 1, 27)
  f_status(MPI_TAG) = 9
  call PMPI_Status_f2f08(f_status, status)
  call check(status%MPI_SOURCE == before .and. status%MPI_TAG == 9, 28)
  call PMPI_Sizeof(a(1:6:2, 1), i)
  call check(i == 4, 29)
  call MPI_F_sync_reg(b(1:6:5, :))
  call PMPI_F_sync_reg(wrong)
  call MPI_Abi_get_version(numbers(1), numbers(2))
  call check(all(numbers(1:2) == [MPI_ABI_VERSION, MPI_ABI_SUBVERSION]), 30)

  call PMPI_Reduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0 .and. total == 0 .and. MPI_Wtime() > 0) print *, 'right'
  call MPI_Pcontrol(1)
  call PMPI_Pcontrol(0)
  call MPI_Finalize()
contains
  include 'check.inc'
end program
