! The module mpi: interfaces are checked, callbacks of all kinds, texts of information, types by address, datatypes.
module callbacks
  use mpi
  implicit none
  integer :: copied = 0, deleted = 0, handled = 0, queried = 0, freed = 0
contains
  subroutine add(invec, inoutvec, len, datatype)
    integer :: len, datatype, i
    integer :: invec(len), inoutvec(len)
    if (datatype /= MPI_INTEGER) handled = 1000
    do i = 1, len
      inoutvec(i) = inoutvec(i) + invec(i)
    end do
  end subroutine
  subroutine copy(oldcomm, keyval, extra, in, out, flag, ierror)
    integer :: oldcomm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    copied = copied + 1
    out = in + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete(comm, keyval, value, extra, ierror)
    integer :: comm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    if (extra == 7) deleted = deleted + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine handler(comm, code)
    integer :: comm, code, class, ierror
    call MPI_Error_class(code, class, ierror)
    if (comm == MPI_COMM_WORLD .and. class == MPI_ERR_RANK) handled = handled + 1
  end subroutine
  subroutine query(extra, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierror
    queried = queried + int(extra)
    status(MPI_SOURCE) = 3
    status(MPI_TAG) = 4
    call MPI_Status_set_elements(status, MPI_INTEGER, 5, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
  end subroutine
  subroutine done(extra, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    freed = freed + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
end module

program module_mpi
  use callbacks
  implicit none
  integer :: ierror, rank, n, wrong = 0, op, key, dup, info, length, eh, type, request, total
  integer :: x(5), y(5), status(MPI_STATUS_SIZE), blocks(2), types(2)
  integer(MPI_ADDRESS_KIND) :: value, at(2), state = 11
  real, volatile :: f(3) ! (a call that has MPI_BOTTOM does not name it)
  double precision, volatile :: d(2)
  logical :: flag
  character(len=20) :: text
  character(len=4) :: cut

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, length, ierror)
  call check(length == MPI_THREAD_MULTIPLE, 1)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)

  call MPI_Op_create(add, .true., op, ierror)
  x = rank
  call MPI_Scan(x, y, 5, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
  call check(all(y == rank * (rank + 1) / 2) .and. handled == 0, 2)
  call MPI_Op_free(op, ierror)
  call check(op == MPI_OP_NULL, 3)

  call MPI_Comm_create_keyval(copy, delete, key, 7_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, -40_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierror)
  call MPI_Comm_get_attr(dup, key, value, flag, ierror)
  call check(flag .and. value == -33 .and. copied == 1, 4)
  call MPI_Comm_free(dup, ierror)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierror)
  call check(deleted == 2, 5)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, ierror)
  call check(.not. flag, 6)
  call MPI_Comm_free_keyval(key, ierror)
  call check(key == MPI_KEYVAL_INVALID, 7)

  call MPI_Comm_create_errhandler(handler, eh, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, eh, ierror)
  call MPI_Send(x, 1, MPI_INTEGER, n + 3, 0, MPI_COMM_WORLD, ierror)
  call check(ierror /= MPI_SUCCESS .and. handled == 1, 8)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierror)
  call MPI_Errhandler_free(eh, ierror)

  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, '  a key ', ' a value that is long  ', ierror)
  call MPI_Info_get(info, 'a key', 20, text, flag, ierror)
  call check(flag .and. text == 'a value that is long', 9)
  length = 4
  call MPI_Info_get_string(info, 'a key', length, cut, flag, ierror)
  call check(flag .and. cut == 'a va' .and. length == 20, 10)
  call MPI_Info_get_nthkey(info, 0, text, ierror)
  call check(text == 'a key', 11)
  call MPI_Info_get(info, 'no key', 20, text, flag, ierror)
  call check(.not. flag, 12)
  call MPI_Info_free(info, ierror)

  f = [rank + 0.5, 1.0, 2.0]
  d = [rank + 0.25d0, 3.0d0]
  call MPI_Get_address(f, at(1), ierror)
  call MPI_Get_address(d, at(2), ierror)
  blocks = [3, 2]
  types = [MPI_REAL, MPI_DOUBLE_PRECISION]
  call MPI_Type_create_struct(2, blocks, at, types, type, ierror)
  call MPI_Type_commit(type, ierror)
  call MPI_Bcast(MPI_BOTTOM, 1, type, n - 1, MPI_COMM_WORLD, ierror)
  call check(f(1) == n - 0.5 .and. d(1) == n - 0.75d0, 13)
  call MPI_Type_free(type, ierror)
  call MPI_Sizeof(d, length, ierror)
  call check(length == 8, 14)

  call MPI_Grequest_start(query, done, cancel, state, request, ierror)
  call MPI_Grequest_complete(request, ierror)
  call MPI_Wait(request, status, ierror)
  call MPI_Get_count(status, MPI_INTEGER, length, ierror)
  call check(status(MPI_SOURCE) == 3 .and. length == 5 .and. queried == 11 .and. freed == 1, 15)

  call PMPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Reduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. total == 0) print *, 'right'
  call MPI_Pcontrol(1)
  call MPI_Finalize(ierror)
contains
  include 'check.inc'
end program
