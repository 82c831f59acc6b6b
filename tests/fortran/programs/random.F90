! Random sections of arrays of rank 0 to 7, of numbers, texts and derived types, upwards, downwards and empty, of pointers,
! allocatable arrays and arrays of assumed size, sent round a ring in several ways: against a list of places that is made
! by counting. All ranks draw the same numbers. Each element of the receiving array is checked.
module random_common
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: most = 2187
  integer, parameter :: extents(7) = [60, 9, 5, 4, 3, 3, 3]
  type section
    integer :: rank, size, way
    integer :: a(7), z(7), d(7), place(most)
  end type
  type, bind(C) :: pair
    integer(c_int) :: number
    real(c_double) :: half
  end type
  type(section), save :: s, r
  type(MPI_Datatype), save :: pairs
  integer, save :: seed = 4711, wrong = 0, rounds = 0, method
contains
  integer function random(below) ! 0 to BELOW - 1
    integer, intent(in) :: below
    seed = iand(seed * 1103 + 12345, 16777215)
    random = mod(seed / 64, below)
  end function

  integer function choose() ! both sections, and how many elements go
    call draw(s)
    call draw(r)
    rounds = rounds + 1
    method = random(6)
    choose = random(min(s%size, r%size) + 1)
    if (random(3) == 0) choose = min(s%size, r%size)
  end function

  subroutine draw(x)
    type(section), intent(out) :: x
    integer :: d, e, i, swap, index(7), stride
    x%rank = random(8)
    x%way = random(2)
    x%size = 1
    if (x%rank == 0) then
      x%place(1) = random(most) + 1
      return
    end if
    e = extents(x%rank)
    do d = 1, x%rank
      x%a(d) = random(e) + 1
      x%z(d) = min(e, x%a(d) + random(e))
      x%d(d) = random(3) + 1
      if (random(3) == 0) then
        swap = x%a(d)
        x%a(d) = x%z(d)
        x%z(d) = swap
        x%d(d) = -x%d(d)
      end if
      if (random(25) == 0) x%z(d) = x%a(d) - sign(1, x%d(d))
      x%size = x%size * max(0, (x%z(d) - x%a(d) + x%d(d)) / x%d(d))
    end do
    index = x%a
    do i = 1, x%size
      x%place(i) = 1
      stride = 1
      do d = 1, x%rank
        x%place(i) = x%place(i) + (index(d) - 1) * stride
        stride = stride * e
      end do
      do d = 1, x%rank
        index(d) = index(d) + x%d(d)
        if ((x%z(d) - index(d)) * x%d(d) >= 0) exit
        index(d) = x%a(d)
      end do
    end do
  end subroutine

  subroutine move(sent, received, count, type, before, next)
    type(*), dimension(..), asynchronous :: sent, received
    integer, intent(in) :: count, before, next
    type(MPI_Datatype), intent(in) :: type
    type(MPI_Request) :: requests(2)
    type(MPI_Message) :: message
    integer :: got, place
    integer, save, asynchronous :: room(20000)
    select case (method)
    case (0)
      call MPI_Sendrecv(sent, count, type, next, 1, received, count, type, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    case (1)
      call MPI_Irecv(received, count, type, before, 2, MPI_COMM_WORLD, requests(1))
      call MPI_Isend(sent, count, type, next, 2, MPI_COMM_WORLD, requests(2))
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    case (2)
      call MPI_Issend(sent, int(count, MPI_COUNT_KIND), type, next, 3, MPI_COMM_WORLD, requests(1))
      call MPI_Recv(received, int(count, MPI_COUNT_KIND), type, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    case (3)
      call MPI_Recv_init(received, count, type, before, 4, MPI_COMM_WORLD, requests(1))
      call MPI_Send_init(sent, count, type, next, 4, MPI_COMM_WORLD, requests(2))
      call MPI_Startall(2, requests)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call MPI_Request_free(requests(1))
      call MPI_Request_free(requests(2))
    case (4)
      place = 0
      call MPI_Pack(sent, count, type, room, 80000, place, MPI_COMM_WORLD)
      call MPI_Sendrecv_replace(room, place, MPI_PACKED, next, 5, before, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      got = 0
      call MPI_Unpack(room, place, got, received, count, type, MPI_COMM_WORLD)
    case (5)
      call MPI_Isend(sent, count, type, next, 6, MPI_COMM_WORLD, requests(1))
      call MPI_Mprobe(before, 6, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE)
      call MPI_Mrecv(received, count, type, message, MPI_STATUS_IGNORE)
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    end select
  end subroutine

  subroutine differs(place, count)
    integer, intent(in) :: place, count
    wrong = wrong + 1
    if (wrong > 5) return
    print *, 'round', rounds, ', method', method, ':', count, 'elements from rank', s%rank, s%way, 'to', r%rank, r%way, &
      '; element', place, 'is wrong'
  end subroutine

  pure integer function number_of(i, me)
    integer, intent(in) :: i, me
    number_of = i * 100 + me
  end function
  pure real(8) function real_of(i, me)
    integer, intent(in) :: i, me
    real_of = i + me / 128d0
  end function
  pure function text_of(i, me)
    integer, intent(in) :: i, me
    character(len=5) :: text_of
    text_of = achar(33 + mod(abs(i), 90)) // achar(33 + abs(i) / 90) // merge('+', '-', i > 0) // achar(48 + me) // 'z'
  end function
  pure type(pair) function pair_of(i, me)
    integer, intent(in) :: i, me
    pair_of = pair(i, me + i / 2d0)
  end function
end module

#define D(i) x%a(i):x%z(i):x%d(i)
#define SAME(a, b) a == b
#define TYPE_OF integer
#define VALUE_OF number_of
#define PIECES 1
#define MPI_TYPE_OF MPI_INTEGER
module of_integers
#include "random_type.inc"
end module

#undef TYPE_OF
#undef VALUE_OF
#undef MPI_TYPE_OF
#define TYPE_OF real(8)
#define VALUE_OF real_of
#define MPI_TYPE_OF MPI_DOUBLE_PRECISION
module of_reals
#include "random_type.inc"
end module

#undef TYPE_OF
#undef VALUE_OF
#undef MPI_TYPE_OF
#undef PIECES
#define TYPE_OF character(len=5)
#define VALUE_OF text_of
#define MPI_TYPE_OF MPI_CHARACTER
#define PIECES 5
module of_texts
#include "random_type.inc"
end module

#undef TYPE_OF
#undef VALUE_OF
#undef MPI_TYPE_OF
#undef PIECES
#undef SAME
#define SAME(a, b) a%number == b%number .and. a%half == b%half
#define TYPE_OF type(pair)
#define VALUE_OF pair_of
#define MPI_TYPE_OF pairs
#define PIECES 1
module of_pairs
#include "random_type.inc"
end module

program random_sections
  use random_common
  use of_integers, only: integers => round
  use of_reals, only: reals => round
  use of_texts, only: texts => round
  use of_pairs, only: both => round
  implicit none
  integer :: me, n, i, before, next
  type(MPI_Datatype) :: struct
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  before = mod(me + n - 1, n)
  next = mod(me + 1, n)
  call MPI_Type_create_struct(2, [1, 1], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_DOUBLE_PRECISION], struct)
  call MPI_Type_create_resized(struct, 0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND, pairs)
  call MPI_Type_commit(pairs)
  do i = 1, 400
    call integers(me, before, next)
    call reals(me, before, next)
    call texts(me, before, next)
    call both(me, before, next)
  end do
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (me == 0 .and. wrong == 0) print *, 'right'
  call MPI_Finalize()
end program
