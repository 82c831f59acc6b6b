! Functions of the program that MPI calls, of each kind: operations of both sizes, error handlers, attributes of datatypes,
! generalized requests. What they set and what they refuse arrives. Functions of data representations have the interfaces of
! the standard.
module functions
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: heard = 0, code = 0, copied = 0, deleted = 0, freed = 0, cancelled = 0
  logical :: keep = .true., refuse = .false., asked = .false.
contains
  subroutine small(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    if (datatype == MPI_INTEGER) b = 10 * a + b
  end subroutine
  subroutine large(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    real(8), pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    if (datatype == MPI_DOUBLE_PRECISION) b = a - b
  end subroutine
  subroutine of_comm(handle, error_code)
    type(MPI_Comm) :: handle
    integer :: error_code
    if (handle == MPI_COMM_WORLD) heard = heard + 1
    code = error_code
  end subroutine
  subroutine of_session(handle, error_code)
    type(MPI_Session) :: handle
    integer :: error_code
    if (handle /= MPI_SESSION_NULL) heard = heard + 10
    code = error_code
  end subroutine
  subroutine of_win(handle, error_code)
    type(MPI_Win) :: handle
    integer :: error_code
    if (handle /= MPI_WIN_NULL) code = error_code
  end subroutine
  subroutine of_file(handle, error_code)
    type(MPI_File) :: handle
    integer :: error_code
    if (handle == MPI_FILE_NULL) code = error_code
  end subroutine
  subroutine extent_of(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    extent = merge(4_MPI_ADDRESS_KIND, extra_state, datatype == MPI_INTEGER)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine convert(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, c_associated(userbuf, filebuf) .and. datatype == MPI_INTEGER .and. &
                   count == 0 .and. position == 0 .and. extra_state == 0)
  end subroutine
  subroutine convert_large(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer(MPI_COUNT_KIND) :: count
    integer :: ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    call convert(userbuf, datatype, int(count), filebuf, position, extra_state, ierror)
  end subroutine
  subroutine copy_type(old, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Datatype) :: old
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    ierror = MPI_SUCCESS
    if (refuse) ierror = MPI_ERR_OTHER
    flag = keep
    attribute_val_out = attribute_val_in + extra_state
    if (old /= MPI_DATATYPE_NULL .and. keyval /= MPI_KEYVAL_INVALID) copied = copied + 1
  end subroutine
  subroutine delete_type(old, keyval, attribute_val, extra_state, ierror)
    type(MPI_Datatype) :: old
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    ierror = MPI_SUCCESS
    if (refuse) ierror = MPI_ERR_OTHER
    if (old /= MPI_DATATYPE_NULL .and. keyval /= MPI_KEYVAL_INVALID .and. extra_state == 2_8**40) &
      deleted = deleted + int(mod(attribute_val, 100_8))
  end subroutine
  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    status%MPI_SOURCE = 4
    status%MPI_TAG = int(extra_state)
    call MPI_Status_set_elements(status, MPI_INTEGER, 6)
    call MPI_Status_set_cancelled(status, cancelled > 0)
    ierror = MPI_SUCCESS
    if (refuse) ierror = MPI_ERR_ARG
  end subroutine
  subroutine freeing(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    freed = freed + int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    cancelled = cancelled + int(extra_state)
    asked = complete
    ierror = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use functions
  implicit none
  integer :: rank, size, wrong = 0, error, class, i, one, expected, key
  procedure(MPI_Datarep_extent_function), pointer :: extents
  procedure(MPI_Datarep_conversion_function), pointer :: conversion
  procedure(MPI_Datarep_conversion_function_c), pointer :: conversion_large
  real(8) :: reals(3), inout(3)
  integer(MPI_ADDRESS_KIND) :: state, value
  type(MPI_Op) :: op
  type(MPI_Errhandler) :: handler, was
  type(MPI_Session) :: session
  type(MPI_Datatype) :: type, other
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  logical :: flag

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)

  ! an operation that is not commutative, in the order of ranks, and one of large counts
  call MPI_Op_create(small, .false., op)
  expected = 0
  do i = 0, size - 1
    expected = 10 * expected + i + 1
  end do
  one = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, one, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
  call check(one == expected, 1)
  call MPI_Op_commutative(op, flag)
  call check(.not. flag, 2)
  call MPI_Op_free(op)
  call MPI_Op_create_c(large, .false., op)
  reals = [5, 6, 7]
  inout = 1
  call MPI_Reduce_local(reals, inout, 3, MPI_DOUBLE_PRECISION, op)
  call check(all(inout == reals - 1), 3)
  call MPI_Op_free(op)

  ! error handlers: called by hand and by an error, told whose it is
  call MPI_Comm_create_errhandler(of_comm, handler)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler)
  call MPI_Comm_get_errhandler(MPI_COMM_WORLD, was)
  call check(was == handler, 10)
  call MPI_Errhandler_free(was)
  call MPI_Errhandler_free(handler)
  call MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TAG)
  call check(heard == 1 .and. code == MPI_ERR_TAG, 11)
  call MPI_Send(one, -3, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, error)
  call MPI_Error_class(code, class)
  call check(heard == 2 .and. class == MPI_ERR_COUNT .and. error == code, 12)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Session_create_errhandler(of_session, handler)
  call MPI_Session_init(MPI_INFO_NULL, handler, session)
  call MPI_Session_call_errhandler(session, MPI_ERR_NAME)
  call check(heard == 12 .and. code == MPI_ERR_NAME, 13)
  call MPI_Session_finalize(session)
  call MPI_Errhandler_free(handler)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Win_create_errhandler(of_win, handler, error) ! with windows, when they are there
  call MPI_Error_class(error, class)
  call check(error == MPI_SUCCESS .or. class == MPI_ERR_UNSUPPORTED_OPERATION, 14)
  if (error == MPI_SUCCESS) call MPI_Errhandler_free(handler)
  call MPI_File_create_errhandler(of_file, handler)
  call MPI_File_set_errhandler(MPI_FILE_NULL, handler)
  call MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_AMODE)
  call check(code == MPI_ERR_AMODE, 15)
  call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN)
  call MPI_Errhandler_free(handler)
  call check(handler == MPI_ERRHANDLER_NULL, 16)

  ! attributes: copied with what the function made of them, not copied, refused
  state = 2_8**40
  call MPI_Type_create_keyval(copy_type, delete_type, key, state)
  state = 0
  call MPI_Type_contiguous(2, MPI_INTEGER, type)
  call MPI_Type_set_attr(type, key, 2_8**33 + 1)
  call MPI_Type_dup(type, other)
  call MPI_Type_get_attr(other, key, value, flag)
  call check(flag .and. value == 2_8**33 + 2_8**40 + 1 .and. copied == 1, 20)
  keep = .false.
  call MPI_Type_free(other)
  call MPI_Type_dup(type, other)
  call MPI_Type_get_attr(other, key, value, flag)
  call check(.not. flag .and. copied == 2 .and. deleted == int(mod(2_8**33 + 2_8**40 + 1, 100_8)), 21)
  call MPI_Type_free(other)
  refuse = .true.
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Type_dup(type, other, error)
  call check(error /= MPI_SUCCESS, 22)
  call MPI_Type_delete_attr(type, key, error)
  call check(error /= MPI_SUCCESS, 23)
  refuse = .false.
  call MPI_Type_get_attr(type, key, value, flag)
  call check(flag .and. value == 2_8**33 + 1, 24)
  call MPI_Type_free_keyval(key)
  call MPI_Type_free(type)
  call check(key == MPI_KEYVAL_INVALID, 25)
  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
  call MPI_Type_contiguous(2, MPI_INTEGER, type)
  call MPI_Type_set_attr(type, key, -5_MPI_ADDRESS_KIND)
  call MPI_Type_dup(type, other)
  call MPI_Type_get_attr(other, key, value, flag)
  call check(flag .and. value == -5, 26)
  call MPI_Type_free(other)
  call MPI_Type_free(type)
  call MPI_Type_free_keyval(key)

  ! data representations: with files not built, each call says so
  extents => extent_of
  conversion => convert
  conversion_large => convert_large
  call MPI_Register_datarep('none', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extents, 0_MPI_ADDRESS_KIND, error)
  call MPI_Error_class(error, i)
  call check(i == MPI_ERR_UNSUPPORTED_OPERATION, 27)
  call MPI_Register_datarep('own', conversion, conversion, extents, 0_MPI_ADDRESS_KIND, error)
  call MPI_Error_class(error, i)
  call check(i == MPI_ERR_UNSUPPORTED_OPERATION, 28)
  call MPI_Register_datarep_c('large', conversion_large, MPI_CONVERSION_FN_NULL_C, extents, 0_MPI_ADDRESS_KIND, error)
  call MPI_Error_class(error, i)
  call check(i == MPI_ERR_UNSUPPORTED_OPERATION, 29)

  ! generalized requests: finished, cancelled, with an error
  call MPI_Grequest_start(query, freeing, cancel, 7_MPI_ADDRESS_KIND, request)
  call MPI_Test(request, flag, status)
  call check(.not. flag, 30)
  call MPI_Grequest_complete(request)
  call MPI_Wait(request, status)
  call MPI_Get_count(status, MPI_INTEGER, i)
  call check(status%MPI_SOURCE == 4 .and. status%MPI_TAG == 7 .and. i == 6 .and. freed == 7, 31)
  call MPI_Grequest_start(query, freeing, cancel, 9_MPI_ADDRESS_KIND, request)
  call MPI_Cancel(request)
  call check(cancelled == 9 .and. .not. asked, 32)
  call MPI_Grequest_complete(request)
  call MPI_Wait(request, status)
  call MPI_Test_cancelled(status, flag)
  call check(flag .and. freed == 16 .and. request == MPI_REQUEST_NULL, 33)
  call MPI_Grequest_start(query, freeing, cancel, 1_MPI_ADDRESS_KIND, request)
  call MPI_Grequest_complete(request)
  refuse = .true.
  call MPI_Wait(request, status, error)
  call check(error /= MPI_SUCCESS .and. freed == 17, 34)

  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. wrong == 0) print *, 'right'
  call MPI_Finalize()
contains
  include 'check.inc'
end program
