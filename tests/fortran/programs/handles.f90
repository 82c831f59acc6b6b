! Handles of each kind that were freed, never were, are negative or of another kind: an error in ierror, and what the
! program gave for an answer is as before. And MPI_STATUS_IGNORE where an array of statuses is wanted.
program handles
  use mpi
  implicit none
  integer :: rank, error, wrong = 0, i, j, class, e, handle, request(2), count, indices(2), status(MPI_STATUS_SIZE)
  integer :: bad(6), around(3)
  integer(MPI_ADDRESS_KIND) :: lower(3), extent(3)
  logical :: flag
  external :: nothing
  integer, parameter :: never(4) = [-1, -huge(1), 123456789, 4095]

  call MPI_Init(error)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  bad(:4) = never

  ! one of each kind that is freed; MPI_INTEGER or MPI_SUM is of another kind
  call MPI_Comm_dup(MPI_COMM_SELF, handle, error)
  call of(handle, MPI_INTEGER)
  call MPI_Comm_free(handle, error)
  do i = 1, 6
    call asked(MPI_ERR_COMM, i)
    call MPI_Comm_size(bad(i), around(2), error)
    call refused(100 + i)
    handle = bad(i)
    call MPI_Comm_free(handle, error)
    call kept(110 + i)
    call MPI_Comm_set_name(bad(i), 'name', error)
    call refused(120 + i)
    call MPI_Comm_split(bad(i), 0, 0, around(2), error)
    call refused(130 + i)
    call MPI_Barrier(bad(i), error)
    call refused(140 + i)
  end do

  call MPI_Comm_group(MPI_COMM_SELF, handle, error)
  call of(handle, MPI_INTEGER)
  call MPI_Group_free(handle, error)
  do i = 1, 6
    call asked(MPI_ERR_GROUP, i)
    call MPI_Group_rank(bad(i), around(2), error)
    call refused(200 + i)
    handle = bad(i)
    call MPI_Group_free(handle, error)
    call kept(210 + i)
  end do

  call MPI_Type_contiguous(3, MPI_INTEGER, handle, error)
  call of(handle, MPI_SUM)
  call MPI_Type_free(handle, error)
  do i = 1, 6
    call asked(MPI_ERR_TYPE, i)
    call MPI_Type_size(bad(i), around(2), error)
    call refused(300 + i)
    lower = 7
    extent = 7
    call MPI_Type_get_extent(bad(i), lower(2), extent(2), error)
    call refused(310 + i)
    call check(all(lower == 7) .and. all(extent == 7), 320 + i)
    handle = bad(i)
    call MPI_Type_commit(handle, error)
    call kept(330 + i)
    call MPI_Send(around, 1, bad(i), MPI_PROC_NULL, 0, MPI_COMM_SELF, error)
    call refused(340 + i)
  end do

  call MPI_Op_create(nothing, .true., handle, error)
  call of(handle, MPI_INTEGER)
  call MPI_Op_free(handle, error)
  do i = 1, 6
    call asked(MPI_ERR_OP, i)
    call MPI_Op_commutative(bad(i), flag, error)
    call refused(400 + i)
    call MPI_Allreduce(1, around(2), 1, MPI_INTEGER, bad(i), MPI_COMM_SELF, error)
    call refused(410 + i)
    handle = bad(i)
    call MPI_Op_free(handle, error)
    call kept(420 + i)
  end do

  call MPI_Comm_create_errhandler(nothing, handle, error)
  call of(handle, MPI_INTEGER)
  call MPI_Errhandler_free(handle, error)
  do i = 1, 6
    call asked(MPI_ERR_ERRHANDLER, i)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, bad(i), error)
    call refused(500 + i)
    handle = bad(i)
    call MPI_Errhandler_free(handle, error)
    call kept(510 + i)
  end do

  call MPI_Info_create(handle, error)
  call of(handle, MPI_INTEGER)
  call MPI_Info_free(handle, error)
  do i = 1, 6
    call asked(MPI_ERR_INFO, i)
    call MPI_Info_get_nkeys(bad(i), around(2), error)
    call refused(600 + i)
    call MPI_Info_set(bad(i), 'key', 'value', error)
    call refused(610 + i)
    handle = bad(i)
    call MPI_Info_free(handle, error)
    call kept(620 + i)
  end do

  call MPI_Send_init(rank, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_SELF, handle, error)
  call of(handle, MPI_INTEGER)
  call MPI_Request_free(handle, error)
  do i = 1, 6
    call asked(MPI_ERR_REQUEST, i)
    handle = bad(i)
    call MPI_Wait(handle, MPI_STATUS_IGNORE, error)
    call kept(700 + i)
    handle = bad(i)
    call MPI_Start(handle, error)
    call kept(710 + i)
    handle = bad(i)
    call MPI_Cancel(handle, error)
    call kept(720 + i)
    call MPI_Request_get_status(bad(i), flag, status, error)
    call refused(730 + i)
    request = [MPI_REQUEST_NULL, bad(i)]
    call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, error)
    call check(error /= MPI_SUCCESS .and. request(2) == bad(i), 740 + i)
  end do

  call of(MPI_MESSAGE_NULL, MPI_INTEGER)
  do i = 1, 6
    if (bad(i) == MPI_MESSAGE_NULL) cycle
    handle = bad(i)
    call MPI_Mrecv(around, 0, MPI_INTEGER, handle, MPI_STATUS_IGNORE, error)
    call check(error /= MPI_SUCCESS .and. handle == bad(i), 800 + i)
  end do

  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, handle, error)
  call of(handle, MPI_INTEGER)
  call MPI_Session_finalize(handle, error)
  do i = 1, 6
    call asked(MPI_ERR_SESSION, i)
    call MPI_Session_get_num_psets(bad(i), MPI_INFO_NULL, around(2), error)
    call refused(900 + i)
    handle = bad(i)
    call MPI_Session_finalize(handle, error)
    call kept(910 + i)
  end do

  call of(MPI_WIN_NULL, MPI_INTEGER)
  do i = 1, 6
    call MPI_Win_fence(0, bad(i), error)
    call check(error /= MPI_SUCCESS, 1000 + i)
    handle = bad(i)
    call MPI_File_close(handle, error)
    call check(error /= MPI_SUCCESS .and. handle == bad(i), 1010 + i)
  end do

  ! a status where there must be an array of them
  request = MPI_REQUEST_NULL
  count = 77
  indices = 77
  call MPI_Waitall(2, request, MPI_STATUS_IGNORE, error)
  call refused_array(1100)
  call MPI_Testall(2, request, flag, MPI_STATUS_IGNORE, error)
  call refused_array(1101)
  call MPI_Waitsome(2, request, count, indices, MPI_STATUS_IGNORE, error)
  call refused_array(1102)
  call MPI_Testsome(2, request, count, indices, MPI_STATUS_IGNORE, error)
  call refused_array(1103)
  call check(count == 77 .and. all(indices == 77), 1104)

  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0 .and. wrong == 0) print *, 'right'
  call MPI_Finalize(error)
contains
  subroutine of(freed, foreign)
    integer, intent(in) :: freed, foreign
    bad(5) = freed
    bad(6) = foreign
  end subroutine
  subroutine asked(expected, number)
    integer, intent(in) :: expected, number
    class = expected
    j = number
    around = 77
  end subroutine
  subroutine refused(number)
    integer, intent(in) :: number
    integer :: got
    got = MPI_SUCCESS
    if (error /= MPI_SUCCESS) call MPI_Error_class(error, got, e)
    call check(got == class .and. all(around == 77), number)
  end subroutine
  subroutine kept(number)
    integer, intent(in) :: number
    call refused(number)
    call check(handle == bad(i), number)
  end subroutine
  subroutine refused_array(number)
    integer, intent(in) :: number
    class = MPI_ERR_ARG
    around = 77
    call refused(number)
  end subroutine
  subroutine check(good, number)
    logical, intent(in) :: good
    integer, intent(in) :: number
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: length
    if (good) return
    wrong = wrong + 1
    text = ''
    if (error > 0) call MPI_Error_string(error, text, length, e)
    print *, 'rank', rank, ': check', number, 'is wrong, error', error, trim(text)
  end subroutine
end program
subroutine nothing()
end subroutine
