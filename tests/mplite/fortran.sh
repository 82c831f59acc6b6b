# mplite in Fortran: every function by the module, the old names from a program in fixed form that knows no module, both
# in one job; a section with gaps is refused.
# timeout: 120 takes: 10
source "$VIADUCT_SOURCE/tests/lib/shell"
command -v gfortran >/dev/null || skip "gfortran is not installed"
[ -e "$VIADUCT_BUILD/lib/libviaduct_mplite.so" ] || skip "this build is without Fortran"
export HOME=$work/home
mkdir "$HOME"
cd "$work" || exit 1

cat >old.f <<'F'
C     A ring of tokens, as programs were written before modules.
      PROGRAM OLD
      INTEGER ME, N, NEXT, LAST, ID, TOKEN, SRC, WRONG
      DOUBLE PRECISION MP_TIME, X(3), T
      REAL F(4)
      CALL MP_INIT()
      T = MP_TIME()
      CALL MP_NPROCS(N)
      CALL MP_MYPROC(ME)
      NEXT = MOD(ME + 1, N)
      LAST = MOD(ME + N - 1, N)
      WRONG = 0
      CALL MP_IARECV(TOKEN, 1, LAST, 4, ID)
      CALL MP_ISEND(ME, 1, NEXT, 4)
      CALL MP_WAIT(ID)
      CALL MP_GET_LAST_SOURCE(SRC)
      IF (TOKEN .NE. LAST .OR. SRC .NE. LAST) WRONG = WRONG + 1
      X(1) = ME
      X(2) = 1
      X(3) = -ME
      CALL MP_DSUM(X, 3)
      IF (X(1) .NE. N*(N-1)/2 .OR. X(2) .NE. N) WRONG = WRONG + 1
      F(1) = ME + 0.5
      CALL MP_FMAX(F, 1)
      IF (F(1) .NE. N - 0.5) WRONG = WRONG + 1
      CALL MP_SYNC()
      IF (MP_TIME() .LT. T) WRONG = WRONG + 1
      CALL MP_ISUM(WRONG, 1)
      IF (ME .EQ. 0 .AND. WRONG .EQ. 0) PRINT '(A)', 'right'
      CALL MP_FINALIZE()
      END
F

cat >new.f90 <<'F'
program new
  use mplite
  implicit none
  integer, parameter :: m = 50
  integer :: me, n, next, last, id, ids(2), flag, source, tag, bytes, i, wrong = 0, dims(2), coords(2), mine(2), a, b
  integer :: in(m, 8), mask(8)
  real(8) :: d(m, 8), e(m)
  real(4) :: f(m, 8), g(m)
  character(len=8) :: text
  call MP_Init()
  call MP_Nprocs(n)
  call MP_Myproc(me)
  next = mod(me + 1, n)
  last = mod(me + n - 1, n)

  ! messages of each type, in each form
  call fill()
  call MP_dARecv(e, m, last, 1, id)
  call MP_dSend(d(:, 1), m, next, 1)
  call MP_Wait(id)
  call check(id == -1 .and. all(e == d(:, 1) - me + last), 1)
  call MP_fARecv(g, m, last, 2, id)
  call MP_fASend(f(:, 1), m, next, 2, ids(1))
  call MP_Block(id)
  call MP_Wait(ids(1))
  call check(all(g == f(:, 1) - me + last), 2)
  call MP_iARecv(in(:, 2), m, last, 3, ids(1))
  call MP_iASend(in(:, 1), m, next, 3, ids(2))
  flag = 0
  do while (flag == 0)
    call MP_Testall(2, ids, flag)
  end do
  call check(all(in(:, 2) == in(:, 1) - me + last) .and. all(ids == -1), 3)
  call MP_dASend(d(:, 1), m, me, 4, id)
  call MP_dRecv(e, m, me, 4)
  call MP_Wait(id)
  call MP_Get_Last_Source(source)
  call MP_Get_Last_Tag(tag)
  call check(all(e == d(:, 1)) .and. source == me .and. tag == 4, 4)
  if (n > 1) then
    if (me == 0) then
      call MP_Send('a text', 6, 1, 5)
      call MP_SSend('another', 7, 1, 6)
      call MP_dSSend(d, 2 * m, 1, 7)
      call MP_iSSend(in, m, 1, 8)
      call MP_fSSend(f, m, 1, 9)
      call MP_iSend(in, m, 1, 10)
      call MP_fSend(f, int(m, 8), 1, 11)
    else if (me == 1) then
      call MP_Probe(-1, 0, 5)
      call MP_Get_Last_Size(bytes)
      call check(bytes == 6, 5)
      text = '--------'
      call MP_Recv(text, 6, 0, 5)
      call check(text == 'a text--', 6)
      call MP_SRecv(text, 7_8, 0, 6)
      call check(text == 'another-', 7)
      call MP_dRecv(d, 2 * m, 0, 7)
      call check(all(d(:, 1) == [(i, i = 1, m)]), 8)
      call MP_iRecv(in, m, 0, 8)
      call MP_fRecv(f, m, -1, 9)
      call check(all(in(:, 1) == [(i, i = 1, m)]) .and. all(f(:, 1) == in(:, 1)), 9)
      call MP_iRecv(in, m, 0, -1)
      call MP_fRecv(f, m, 0, 11)
    end if
  end if
  call fill()
  call MP_ASend(me, 4, next, 12, ids(1))
  call MP_ARecv(a, 4, last, 12, ids(2))
  flag = 0
  do while (flag == 0)
    call MP_Test(ids(2), flag)
  end do
  call MP_Wait(ids(1))
  call check(a == last, 10)
  call MP_AProbe(-1, -1, 13, flag)
  call check(flag == 0, 11)
  call MP_SShift(me, next, a, last, 4)
  call check(a == last, 12)
  call MP_SShift(me, last, a, next, 4_8)
  call check(a == next, 13)

  ! all together
  call fill()
  call MP_iBcast(in, m, n - 1)
  call MP_dBcast(d, m, n - 1)
  call MP_fBcast(f, m, n - 1)
  call check(all(in(:, 1) == [(i, i = 1, m)] + n - 1) .and. alike(), 20)
  call MP_iBroadcast(in, m)
  call MP_dBroadcast(d, m)
  call MP_fBroadcast(f, m)
  a = me + 5
  call MP_Bcast(a, 4, 0)
  call check(a == 5, 21)
  a = me + 6
  call MP_Broadcast(a, 4)
  call check(a == 6, 22)
  call fill()
  call MP_iSum(in(:, 1), m)
  call MP_dSum(d(:, 1), m)
  call MP_fSum(f(:, 1), m)
  call check(all(in(:, 1) == n * [(i, i = 1, m)] + n * (n - 1) / 2) .and. alike(), 23)
  call fill()
  call MP_iMax(in(:, 1), m)
  call MP_dMax(d(:, 1), m)
  call MP_fMax(f(:, 1), m)
  call check(all(in(:, 1) == [(i, i = 1, m)] + n - 1) .and. alike(), 24)
  call fill()
  call MP_iMin(in(:, 1), m)
  call MP_dMin(d(:, 1), m)
  call MP_fMin(f(:, 1), m)
  call check(all(in(:, 1) == [(i, i = 1, m)]) .and. alike(), 25)
  in(:, me + 1) = me
  d(:, me + 1) = me
  f(:, me + 1) = me
  call MP_iGather(in, m)
  call MP_dGather(d, m)
  call MP_fGather(f, m)
  do i = 1, n
    call check(all(in(:, i) == i - 1) .and. all(d(:, i) == i - 1) .and. all(f(:, i) == i - 1), 26)
  end do
  in(1, me + 1) = 10 * me
  call MP_Gather(in, 4 * m)
  call check(in(1, n) == 10 * (n - 1), 27)

  ! those of a mask: all but rank 0, which counts places from there
  mask = 1
  mask(1) = 0
  if (me > 0) then
    call fill()
    call MP_iSum_masked(in(:, 1), m, mask)
    call MP_dSum_masked(d(:, 1), m, mask)
    call MP_fSum_masked(f(:, 1), m, mask)
    call check(in(1, 1) == n - 1 + n * (n - 1) / 2 .and. alike(), 30)
    call fill()
    call MP_iMax_masked(in(:, 1), m, mask)
    call MP_dMax_masked(d(:, 1), m, mask)
    call MP_fMax_masked(f(:, 1), m, mask)
    call check(in(1, 1) == n .and. alike(), 31)
    call fill()
    call MP_iMin_masked(in(:, 1), m, mask)
    call MP_dMin_masked(d(:, 1), m, mask)
    call MP_fMin_masked(f(:, 1), m, mask)
    call check(in(1, 1) == 2 .and. alike(), 32)
    a = me
    call MP_Bcast_masked(a, 4, n - 1, mask)
    call check(a == n - 1, 33)
    call fill()
    call MP_iBcast_masked(in, m, n - 1, mask)
    call MP_dBcast_masked(d, m, n - 1, mask)
    call MP_fBcast_masked(f, m, n - 1, mask)
    call check(in(1, 1) == n .and. alike(), 34)
    in(:, me) = me
    d(:, me) = me
    f(:, me) = me
    call MP_iGather_masked(in, m, mask)
    call MP_dGather_masked(d, m, mask)
    call MP_fGather_masked(f, m, mask)
    call check(in(m, n - 1) == n - 1 .and. d(m, n - 1) == n - 1 .and. f(m, n - 1) == n - 1, 35)
    call MP_Gather_masked(in, 4 * m, mask)
    call check(in(m, n - 1) == n - 1, 36)
  end if

  ! a grid
  dims = 0
  call MP_Cart_Create(2, dims)
  call check(product(dims) == n, 40)
  call MP_Cart_Get(dims, mine)
  call MP_Cart_Coords(me, coords)
  call check(all(coords == mine), 41)
  call MP_Cart_Rank(coords, a)
  call check(a == me, 42)
  call MP_Cart_Shift(0, 1, a, b)
  coords(1) = mod(mine(1) + 1, dims(1))
  call MP_Cart_Rank(coords, i)
  call check(b == i, 43)

  call MP_Sync()
  call check(MP_Time() > 0, 44)
  call MP_iSum(wrong, 1)
  if (me == 0 .and. wrong == 0) print '(a)', 'right'
  call MP_Finalize()
contains
  logical function alike()
    alike = all(d(:, 1) == in(:, 1)) .and. all(f(:, 1) == in(:, 1))
  end function
  subroutine fill()
    do i = 1, 8
      in(:, i) = [(me + a, a = 1, m)]
    end do
    d = in
    f = in
  end subroutine
  subroutine check(good, number)
    logical, intent(in) :: good
    integer, intent(in) :: number
    if (good) return
    wrong = wrong + 1
    print *, 'rank', me, ': check', number, 'is wrong'
  end subroutine
end program
F
compilers=(gfortran)
for compiler in flang-new-22 flang-new-19; do
    command -v $compiler >/dev/null && compilers+=($compiler) && break
done
for compiler in "${compilers[@]}"; do
    expect 0 "" "" "$VIADUCT_BIN/mpifort" -fc=$compiler -o old-$compiler old.f -lviaduct_mplite
    expect 0 "" "" "$VIADUCT_BIN/mpifort" -fc=$compiler -o new-$compiler new.f90 -lviaduct_mplite
    for ranks in 1 2 5; do
        expect 0 right "" timeout 30 "$mpiexec" -n $ranks ./old-$compiler
        expect 0 right "" timeout 30 "$mpiexec" -n $ranks ./new-$compiler
    done
done
grep -oE 'MP_[A-Za-z_]+\(' "$VIADUCT_SOURCE/include/mplite.h" | tr 'A-Z' 'a-z' | sort -u >declared
nm -D --defined-only "$VIADUCT_BUILD/lib/libviaduct_mplite.so" | awk '{ print $3 }' | grep -vE '_(array|wide)_$' >exported
while IFS='(' read -r name _; do
    for spelling in ${name}_ ${name}__ $name ${name^^}; do grep -qx $spelling exported || fail "$spelling is not there"; done
    grep -qiE "MP_${name#mp_}[_a-z]* *\(" "$VIADUCT_BUILD/lib/viaduct/fortran/mplite.f90" || fail "the module has no $name"
done <declared
[ "$(wc -l <declared)" -ge 75 ] || fail "mplite.h is not understood"

cat >gaps.f90 <<'F'
use mplite
integer a(8)
call MP_Init()
call MP_iSum(a(1:8:2), 4)
end
F
expect 0 "" "" "$VIADUCT_BIN/mpifort" -o gaps gaps.f90 -lviaduct_mplite
expect 1 "" "~MP_iSum: a section of an array with gaps cannot be taken: copy it first" timeout 30 "$mpiexec" -n 1 ./gaps
finish
