! What is wrong is an error, and nothing is written but what the program gave.
program wrong_arguments
  use mpi
  implicit none
  integer :: rank, error, wrong = 0, handle, old, class, length, request(2), size, text_length, info, i
  integer :: around(3), statuses(MPI_STATUS_SIZE, 2), type
  character(len=6) :: short
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=MPI_MAX_INFO_KEY + 1) :: long
  logical :: flag, flags(3)
  integer, parameter :: bad(5) = [-1, 123456789, MPI_INTEGER, -huge(1), MPI_COMM_NULL]

  call MPI_Init(error)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)

  request = MPI_REQUEST_NULL
  call MPI_Waitall(2, request, MPI_STATUS_IGNORE, error)
  call refused(MPI_ERR_ARG, 1)
  call MPI_Error_string(error, text, length, i)
  call check(index(text(:length), 'MPI_Waitall') > 0 .and. index(text(:length), 'MPI_STATUSES_IGNORE') > 0, 2)
  call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, error)
  call check(error == MPI_SUCCESS, 3)
  call MPI_Waitall(-1, request, statuses, error)
  call check(error /= MPI_SUCCESS, 4)

  ! handles that were freed, never were, are of another kind
  call MPI_Comm_dup(MPI_COMM_SELF, handle, error)
  old = handle
  call MPI_Comm_free(handle, error)
  call MPI_Comm_size(old, size, error)
  call refused(MPI_ERR_COMM, 5)
  do i = 1, 5
    around = 77
    call MPI_Comm_rank(bad(i), around(2), error)
    call refused(MPI_ERR_COMM, 10 + i)
    call MPI_Group_size(bad(i), around(2), error)
    call refused(MPI_ERR_GROUP, 20 + i)
    call MPI_Info_get_nkeys(bad(i), around(2), error)
    call refused(MPI_ERR_INFO, 30 + i)
    type = bad(i)
    call MPI_Type_free(type, error)
    call check(error /= MPI_SUCCESS, 40 + i)
    call check(all(around == 77), 50 + i)
    call MPI_Send(rank, 1, MPI_INTEGER, 0, 0, bad(i), error)
    call refused(MPI_ERR_COMM, 60 + i)
  end do
  call MPI_Send(rank, -1, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, error)
  call refused(MPI_ERR_COUNT, 70)
  call MPI_Type_contiguous(-5, MPI_INTEGER, type, error)
  call refused(MPI_ERR_COUNT, 71)

  ! texts: blanks around a key do not count; all blanks, too long, an answer longer than its place
  call MPI_Info_create(info, error)
  call MPI_Info_set(info, '  key ', ' value', error)
  text = 'before'
  call MPI_Info_get(info, 'key', 10, text, flag, error)
  call check(flag .and. (text == 'value' .or. text == ' value'), 80)
  call MPI_Info_set(info, '   ', 'value', error)
  call refused(MPI_ERR_INFO_KEY, 81)
  long = repeat('x', MPI_MAX_INFO_KEY + 1)
  call MPI_Info_set(info, long, 'value', error)
  call refused(MPI_ERR_INFO_KEY, 82)
  call MPI_Info_free(info, error)
  call MPI_Comm_dup(MPI_COMM_SELF, handle, error)
  call MPI_Comm_set_name(handle, 'a name that is long', error)
  short = 'abcdef'
  call MPI_Comm_get_name(handle, short(2:4), text_length, error)
  call check(short == 'aa nef' .and. text_length <= 19, 83)
  call MPI_Comm_set_name(handle, '      ', error)
  call MPI_Comm_get_name(handle, text, text_length, error)
  call check(text == ' ' .and. text_length == 0, 84)
  call MPI_Comm_free(handle, error)

  ! logical values of any compiler, in arrays too
  call MPI_Cart_create(MPI_COMM_SELF, 3, [1, 1, 1], [.true., .false., .true.], .false., handle, error)
  call MPI_Cart_get(handle, 3, around, flags, statuses, error)
  call check(flags(1) .and. .not. flags(2) .and. flags(3) .and. all(around == 1), 90)
  call MPI_Comm_free(handle, error)

  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0 .and. wrong == 0) print *, 'right'
  call MPI_Finalize(error)
contains
  subroutine refused(expected, number)
    integer, intent(in) :: expected, number
    integer :: e
    class = MPI_SUCCESS
    call MPI_Error_class(error, class, e)
    call check(class == expected, number)
  end subroutine
  include 'check.inc'
end program
