! Random datatypes, with gaps and out of order, on random sections: packed and unpacked like on a contiguous copy.
program derived
  use mpi_f08
  implicit none
  integer, parameter :: most = 9, rounds = 1500
  integer :: from(most, most, most), to(most, most, most), expected(most, most, most), flat(most**3), whole(most**3)
  integer :: s(3, 3), i, round, count, room, elements, wrong = 0, refused = 0, seed = 54321, rank, error, at, other
  character :: packed(8 * most**3), sought(8 * most**3)
  type(MPI_Datatype) :: type
  integer(MPI_ADDRESS_KIND) :: lower, extent, first, bytes

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  seed = seed + 77 * rank
  do round = 1, rounds
    call choose(s)
    elements = size(from(s(1,1):s(2,1):s(3,1), s(1,2):s(2,2):s(3,2), s(1,3):s(2,3):s(3,3)))
    call make(type, 1 + mod(round, 3))
    call MPI_Type_get_extent(type, lower, extent)
    call MPI_Type_get_true_extent(type, first, bytes)
    count = random(4) - 1
    room = int((first + bytes + (count - 1) * extent + 3) / 4) ! so many elements does it need
    if (count == 0) room = 0
    if (room > elements .and. .not. has_gaps(s)) then ! where it ends is not seen
      call MPI_Type_free(type)
      cycle
    end if
    from = reshape([(1000 * round + i, i = 1, most**3)], [most, most, most])
    flat = 0
    flat(1:elements) = pack(from(s(1,1):s(2,1):s(3,1), s(1,2):s(2,2):s(3,2), s(1,3):s(2,3):s(3,3)), .true.)
    packed = char(1)
    sought = char(1)
    at = 0
    other = 0
    call MPI_Pack(from(s(1,1):s(2,1):s(3,1), s(1,2):s(2,2):s(3,2), s(1,3):s(2,3):s(3,3)), count, type, &
                  packed, size(packed), at, MPI_COMM_SELF, error)
    if (room > elements) then
      if (error == MPI_SUCCESS) wrong = wrong + 1
      refused = refused + 1
    else
      call MPI_Pack(flat, count, type, sought, size(sought), other, MPI_COMM_SELF)
      if (error /= MPI_SUCCESS .or. at /= other .or. any(packed /= sought)) then
        wrong = wrong + 1
        print *, 'round', round, 'packs', at, 'and not', other, ', error', error
      end if
      whole = -1
      to = -1
      expected = -1
      at = 0
      other = 0
      call MPI_Unpack(sought, size(sought), at, whole, count, type, MPI_COMM_SELF)
      call MPI_Unpack(sought, size(sought), other, to(s(1,1):s(2,1):s(3,1), s(1,2):s(2,2):s(3,2), s(1,3):s(2,3):s(3,3)), &
                      count, type, MPI_COMM_SELF, error)
      expected(s(1,1):s(2,1):s(3,1), s(1,2):s(2,2):s(3,2), s(1,3):s(2,3):s(3,3)) = reshape(whole(1:elements), &
        shape(expected(s(1,1):s(2,1):s(3,1), s(1,2):s(2,2):s(3,2), s(1,3):s(2,3):s(3,3))))
      if (error /= MPI_SUCCESS .or. at /= other .or. any(to /= expected)) then
        wrong = wrong + 1
        print *, 'round', round, 'unpacks wrongly, error', error
      end if
    end if
    call MPI_Type_free(type)
  end do
  if (refused == 0 .or. refused > rounds / 2) wrong = wrong + 1
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. wrong == 0) print *, 'right'
  if (wrong > 0) print *, 'rank', rank, ':', wrong, 'wrong,', refused, 'refused of', rounds
  call MPI_Finalize()
contains
  include 'random.inc'
  ! A type of types, so deep, without places before its beginning.
  recursive subroutine make(made, depth)
    type(MPI_Datatype), intent(out) :: made
    integer, intent(in) :: depth
    type(MPI_Datatype) :: inner, parts(2)
    integer(MPI_ADDRESS_KIND) :: low, step
    integer :: a, b, c
    if (depth == 0) then
      select case (random(6))
      case (1); call MPI_Type_dup(MPI_DOUBLE_PRECISION, made)
      case (2); call MPI_Type_dup(MPI_BYTE, made)
      case (3); call MPI_Type_dup(MPI_DOUBLE_INT, made)
      case (4); call MPI_Type_dup(MPI_INTEGER2, made)
      case default; call MPI_Type_dup(MPI_INTEGER, made)
      end select
      call MPI_Type_commit(made)
      return
    end if
    call make(inner, depth - 1)
    call MPI_Type_get_extent(inner, low, step)
    a = random(3)
    b = random(2)
    c = random(3)
    select case (random(11))
    case (1); call MPI_Type_contiguous(a, inner, made)
    case (2); call MPI_Type_vector(a, b, b + c - 1, inner, made)
    case (3); call MPI_Type_create_hvector(a, b, b * step + c, inner, made)
    case (4); call MPI_Type_indexed(2, [a, b], [c + b, 0], inner, made)
    case (5); call MPI_Type_create_hindexed(2, [a, b], [(c + b) * step + 4, 0_MPI_ADDRESS_KIND], inner, made)
    case (6); call MPI_Type_create_indexed_block(2, b, [0, b + c], inner, made)
    case (7); call MPI_Type_create_hindexed_block(2, b, [(b + 1) * step, 0_MPI_ADDRESS_KIND], inner, made)
    case (8)
      parts = [inner, MPI_INTEGER]
      call MPI_Type_create_struct(2, [b, a], [4_MPI_ADDRESS_KIND * a, 0_MPI_ADDRESS_KIND], parts, made)
    case (9); call MPI_Type_create_subarray(2, [2, 3], [b, 2], [2 - b, 1], MPI_ORDER_FORTRAN, inner, made)
    case (10); call MPI_Type_create_subarray(2, [2_8, 3_8], [1_8, 2_8], [1_8, 1_8], MPI_ORDER_C, inner, made)
    case default; call MPI_Type_create_resized(inner, 0_MPI_ADDRESS_KIND, step + 4 * (c - 1), made)
    end select
    call MPI_Type_commit(made)
    call MPI_Type_free(inner)
  end subroutine
  logical function has_gaps(x) ! is_contiguous of gfortran 12 says so of some that have none
    integer, intent(in) :: x(3, 3)
    integer :: d, n, step
    step = 1
    has_gaps = .false.
    do d = 1, 3
      n = (x(2, d) - x(1, d)) / x(3, d) + 1
      if (n > 1) has_gaps = has_gaps .or. x(3, d) * most**(d - 1) /= step
      step = step * n
    end do
  end function
  subroutine choose(x) ! first, last, stride, of each dimension; upwards or downwards
    integer, intent(out) :: x(3, 3)
    integer :: d
    do d = 1, 3
      x(1, d) = random(2)
      x(2, d) = most - random(3) + 1
      x(3, d) = random(3)
      call turn(x(:, d))
    end do
    if (random(4) == 1) x(2, 3) = x(1, 3)
    if (random(4) == 1) x(2, 2) = x(1, 2)
  end subroutine
end program
