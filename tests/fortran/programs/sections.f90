! Random sections of an array of three dimensions, on both sides, with counts that end anywhere: against a copy.
program sections
  use mpi_f08
  implicit none
  integer, parameter :: most = 7, rounds = 400
  real(8) :: from(most, most, most), to(most, most, most), expected(most, most, most), flat(most**3)
  integer :: s(3, 3), r(3, 3), i, j, k, round, count, room, wrong = 0, seed = 12345, rank, way
  type(MPI_Request) :: request
  type(MPI_Status) :: status

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  seed = seed + rank
  do round = 1, rounds
    call choose(s)
    call choose(r)
    from = reshape([(real(i + 1000 * round, 8), i = 1, most**3)], [most, most, most])
    to = -1
    expected = -1
    flat(1:size(from(s(1,1):s(2,1):s(3,1), s(1,2):s(2,2):s(3,2), s(1,3):s(2,3):s(3,3)))) = &
      pack(from(s(1,1):s(2,1):s(3,1), s(1,2):s(2,2):s(3,2), s(1,3):s(2,3):s(3,3)), .true.)
    room = min(size(from(s(1,1):s(2,1):s(3,1), s(1,2):s(2,2):s(3,2), s(1,3):s(2,3):s(3,3))), &
               size(to(r(1,1):r(2,1):r(3,1), r(1,2):r(2,2):r(3,2), r(1,3):r(2,3):r(3,3))))
    count = random(room + 1) - 1
    room = 0
    do k = r(1,3), r(2,3), r(3,3)
      do j = r(1,2), r(2,2), r(3,2)
        do i = r(1,1), r(2,1), r(3,1)
          room = room + 1
          if (room <= count) expected(i, j, k) = flat(room)
        end do
      end do
    end do
    way = mod(round, 3)
    if (way == 0) then
      call MPI_Irecv(to(r(1,1):r(2,1):r(3,1), r(1,2):r(2,2):r(3,2), r(1,3):r(2,3):r(3,3)), count, &
                     MPI_DOUBLE_PRECISION, 0, round, MPI_COMM_SELF, request)
      call MPI_Send(from(s(1,1):s(2,1):s(3,1), s(1,2):s(2,2):s(3,2), s(1,3):s(2,3):s(3,3)), count, &
                    MPI_DOUBLE_PRECISION, 0, round, MPI_COMM_SELF)
      call MPI_Wait(request, status)
    else if (way == 1) then ! bytes of whole elements
      call MPI_Sendrecv(from(s(1,1):s(2,1):s(3,1), s(1,2):s(2,2):s(3,2), s(1,3):s(2,3):s(3,3)), 8 * count, MPI_BYTE, 0, 1, &
                        to(r(1,1):r(2,1):r(3,1), r(1,2):r(2,2):r(3,2), r(1,3):r(2,3):r(3,3)), 8 * count, MPI_BYTE, 0, 1, &
                        MPI_COMM_SELF, MPI_STATUS_IGNORE)
    else
      call MPI_Recv_init(to(r(1,1):r(2,1):r(3,1), r(1,2):r(2,2):r(3,2), r(1,3):r(2,3):r(3,3)), count, &
                         MPI_DOUBLE_PRECISION, 0, round, MPI_COMM_SELF, request)
      call MPI_Start(request)
      call MPI_Send(from(s(1,1):s(2,1):s(3,1), s(1,2):s(2,2):s(3,2), s(1,3):s(2,3):s(3,3)), count, &
                    MPI_DOUBLE_PRECISION, 0, round, MPI_COMM_SELF)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call MPI_Request_free(request)
    end if
    if (any(to /= expected)) wrong = wrong + 1
  end do
  if (wrong > 0) print *, 'rank', rank, ':', wrong, 'of', rounds, 'rounds are wrong'
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. wrong == 0) print *, 'right'
  call MPI_Finalize()
contains
  include 'random.inc'
  subroutine choose(x) ! first, last, stride, of each dimension; upwards or downwards, at times empty
    integer, intent(out) :: x(3, 3)
    integer :: d
    do d = 1, 3
      x(1, d) = random(most)
      x(2, d) = x(1, d) + random(most - x(1, d) + 1) - 1
      x(3, d) = random(3)
      call turn(x(:, d))
      if (random(20) == 1) x(2, d) = x(1, d) - x(3, d)
    end do
  end subroutine
end program
