! Texts in both directions: empty, all blanks, blanks in front, as long as MPI allows and longer; outputs that are shorter
! than the answer, or of no length. Nothing beside an output is written.
program texts
  use mpi_f08
  implicit none
  integer :: rank, wrong = 0, error, class, length, i, known
  type(MPI_Info) :: info
  type(MPI_Comm) :: comm
  type(MPI_Datatype) :: type
  type(MPI_Session) :: session
  logical :: flag
  character(len=12) :: room
  character(len=MPI_MAX_INFO_KEY) :: key
  character(len=MPI_MAX_INFO_VAL + 1) :: value, answer
  character(len=MPI_MAX_OBJECT_NAME + 20) :: name, told
  character(len=MPI_MAX_PROCESSOR_NAME) :: processor
  character(len=MPI_MAX_ERROR_STRING) :: text

  call MPI_Init()
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)

  ! keys
  call MPI_Info_create(info)
  call MPI_Info_set(info, '', 'value', error)
  call refused(MPI_ERR_INFO_KEY, 1)
  call MPI_Info_set(info, '   ', 'value', error)
  call refused(MPI_ERR_INFO_KEY, 2)
  key = repeat('k', MPI_MAX_INFO_KEY)
  call MPI_Info_set(info, key, 'long', error)
  call check(error == MPI_SUCCESS, 3)
  call MPI_Info_set(info, '   ' // key // '   ', 'blanks', error)
  call check(error == MPI_SUCCESS, 4)
  call MPI_Info_set(info, key // 'k', 'value', error)
  call refused(MPI_ERR_INFO_KEY, 5)
  call MPI_Info_get_nkeys(info, i)
  call check(i == 1, 6)
  room = '------------'
  call MPI_Info_get_nthkey(info, 0, room(3:7))
  call check(room == '--kkkkk-----', 7)
  call MPI_Info_get_valuelen(info, '  ' // key, length, flag)
  call check(flag .and. length == 6, 8)
  call MPI_Info_delete(info, ' ' // key)
  call MPI_Info_delete(info, key, error)
  call refused(MPI_ERR_INFO_NOKEY, 9)

  ! values
  call MPI_Info_set(info, 'a', '')
  call MPI_Info_get_valuelen(info, 'a', length, flag)
  call check(flag .and. length == 0, 20)
  answer = 'before'
  call MPI_Info_get(info, 'a', 5, answer, flag)
  call check(flag .and. answer == '', 21)
  value = repeat('v', MPI_MAX_INFO_VAL)
  call MPI_Info_set(info, 'a', value(:MPI_MAX_INFO_VAL))
  call MPI_Info_get(info, 'a', MPI_MAX_INFO_VAL, answer, flag)
  call check(flag .and. answer == value, 22)
  value = repeat('v', MPI_MAX_INFO_VAL + 1)
  call MPI_Info_set(info, 'a', value, error)
  call refused(MPI_ERR_INFO_VALUE, 23)
  call MPI_Info_set(info, 'a', 'a value of some length')
  room = '------------'
  call MPI_Info_get(info, 'a', 22, room(2:5), flag) ! the place is shorter than what is asked for
  call check(flag .and. room == '-a va-------', 24)
  call MPI_Info_get(info, 'a', 3, room(6:12), flag) ! the other way round
  call check(flag .and. room == '-a vaa v    ', 25)
  length = 0
  room = '------------'
  call MPI_Info_get_string(info, 'a', length, room, flag)
  call check(flag .and. length == 22 .and. room == '------------', 26)
  length = 22
  call MPI_Info_get_string(info, 'a', length, room(3:4), flag)
  call check(flag .and. length == 22 .and. room == '--a --------', 27)
  call MPI_Info_get_string(info, 'a', length, room(3:2), flag)
  call check(flag .and. room == '--a --------', 28)
  length = 7
  room = '------------'
  call MPI_Info_get_string(info, 'none', length, room, flag)
  call check(.not. flag .and. length == 7 .and. room == '------------', 29)
  call MPI_Info_free(info)

  ! names: blanks behind do not count
  call MPI_Comm_dup(MPI_COMM_SELF, comm)
  call named('', 0, 40)
  call named('    ', 0, 41)
  call named('a b  ', 3, 42)
  name = repeat('n', MPI_MAX_OBJECT_NAME)
  call named(name(:MPI_MAX_OBJECT_NAME), MPI_MAX_OBJECT_NAME, 43)
  call MPI_Comm_set_name(comm, repeat('m', MPI_MAX_OBJECT_NAME + 20), error)
  call MPI_Comm_get_name(comm, told, length)
  call check(length <= MPI_MAX_OBJECT_NAME .and. (told == name .or. told == repeat('m', MPI_MAX_OBJECT_NAME)), 44)
  room = '------------'
  call MPI_Comm_get_name(comm, room(5:4), length)
  call check(room == '------------', 45)
  call MPI_Comm_free(comm)
  call MPI_Type_contiguous(2, MPI_INTEGER, type)
  call MPI_Type_set_name(type, 'two')
  call MPI_Type_get_name(type, room(1:6), length)
  call check(room == 'two   ------' .and. length == 3, 46)
  call MPI_Type_free(type)

  ! texts of the library
  call MPI_Get_processor_name(processor, length)
  call check(length > 0 .and. len_trim(processor) == length, 60)
  room = '------------'
  call MPI_Get_processor_name(room(4:5), length)
  call check(room(:3) == '---' .and. room(4:4) == processor(1:1) .and. room(6:) == '-------', 61)
  room = '------------'
  call MPI_Get_library_version(room(2:4), length)
  call check(room(1:1) == '-' .and. room(2:4) /= '---' .and. room(5:) == '--------', 62)
  call MPI_Error_string(MPI_ERR_COMM, text, length)
  call check(length > 3 .and. len_trim(text) == length, 63)
  room = '------------'
  call MPI_Error_string(MPI_ERR_COMM, room(2:4), length)
  call check(room == '-' // text(1:3) // '--------', 64)
  call MPI_Add_error_class(known)
  call MPI_Add_error_code(known, i)
  call MPI_Add_error_string(i, 'mine  ')
  call MPI_Error_string(i, text, length)
  call check(text == 'mine' .and. length == 4, 65)
  call MPI_Add_error_string(i, '')
  call MPI_Error_string(i, text, length)
  call check(text == '' .and. length == 0, 66)

  ! sets of a session
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
  length = 0
  call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, room)
  call check(length == len('mpi://WORLD'), 80)
  room = '------------'
  call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, room(2:4))
  call check(room == '-mpi--------', 81)
  call MPI_Session_finalize(session)

  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. wrong == 0) print *, 'right'
  call MPI_Finalize()
contains
  subroutine named(text, expected, number)
    character(len=*), intent(in) :: text
    integer, intent(in) :: expected, number
    told = 'before'
    call MPI_Comm_set_name(comm, text)
    call MPI_Comm_get_name(comm, told, length)
    call check(length == expected .and. told == text, number)
  end subroutine
  subroutine refused(expected, number)
    integer, intent(in) :: expected, number
    call MPI_Error_class(error, class)
    call check(class == expected, number)
  end subroutine
  include 'check.inc'
end program
