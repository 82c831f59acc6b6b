C     mpif.h in fixed form: real and integer buffers in one unit, a number for an array that is not looked at, pairs,
C     statuses, requests by index, names, grids, attributes.
      program fixed
      implicit none
      include 'mpif.h'
      integer ierr, rank, n, i, wrong, next, before, index, count
      integer x(4), y(4), status(MPI_STATUS_SIZE), request(3)
      integer statuses(MPI_STATUS_SIZE, 3), done(3), grid, old, key
      integer dims(2), coords(2), counts(64), places(64), values(64)
      logical periods(2), flag
      double precision r(3), s(3), t
      integer(kind=MPI_ADDRESS_KIND) value
      character*40 name
      character*10 short
      character*(MPI_MAX_ERROR_STRING) text
      wrong = 0
      t = MPI_WTIME()
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, n, ierr)
      next = mod(rank + 1, n)
      before = mod(rank + n - 1, n)
      do i = 1, 4
        x(i) = 100 * rank + i
        y(i) = -1
      enddo
      call MPI_IRECV(y, 4, MPI_INTEGER, MPI_ANY_SOURCE, 7,
     &               MPI_COMM_WORLD, request(1), ierr)
      request(2) = MPI_REQUEST_NULL
      call MPI_IRECV(s, 3, MPI_DOUBLE_PRECISION, before, 8,
     &               MPI_COMM_WORLD, request(3), ierr)
      call MPI_SEND(x, 4, MPI_INTEGER, next, 7, MPI_COMM_WORLD, ierr)
      call MPI_WAITANY(2, request, index, status, ierr)
      if (index .ne. 1 .or. status(MPI_SOURCE) .ne. before .or.
     &    status(MPI_TAG) .ne. 7) wrong = wrong + 1
      call MPI_GET_COUNT(status, MPI_INTEGER, count, ierr)
      if (count .ne. 4 .or. y(4) .ne. 100 * before + 4)
     &    wrong = wrong + 1
      do i = 1, 3
        r(i) = rank + i / 10.d0
      enddo
      call MPI_SEND(r, 3, MPI_DOUBLE_PRECISION, next, 8,
     &              MPI_COMM_WORLD, ierr)
      call MPI_WAITSOME(3, request, count, done, statuses, ierr)
      if (count .ne. 1 .or. done(1) .ne. 3) wrong = wrong + 1
      if (abs(s(3) - before - 0.3d0) .gt. 1d-12) wrong = wrong + 1
      call MPI_WAITANY(3, request, index, MPI_STATUS_IGNORE, ierr)
      if (index .ne. MPI_UNDEFINED) wrong = wrong + 1
      call MPI_ALLREDUCE(MPI_IN_PLACE, x, 4, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, ierr)
      if (x(2) .ne. 100 * (n * (n - 1) / 2) + 2 * n) wrong = wrong + 1
      do i = 1, 64
        counts(i) = 1
        places(i) = i - 1
        values(i) = 100 * rank
      enddo
      call MPI_ALLTOALLV(MPI_IN_PLACE, 0, 0, MPI_DATATYPE_NULL, values,
     &                   counts, places, MPI_INTEGER, MPI_COMM_WORLD,
     &                   ierr)
      do i = 1, n
        if (values(i) .ne. 100 * (i - 1)) wrong = wrong + 1
      enddo
      if (rank .ne. 0) then
        call MPI_GATHERV(rank, 1, MPI_INTEGER, 0, 0, 0, 0, 0,
     &                   MPI_COMM_WORLD, ierr)
      else
        call MPI_GATHERV(rank, 1, MPI_INTEGER, values, counts, places,
     &                   MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        if (values(n) .ne. n - 1) wrong = wrong + 1
      endif
      r(1) = next
      r(2) = rank
      call MPI_ALLREDUCE(r, s, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC,
     &                   MPI_COMM_WORLD, ierr)
      if (s(1) .ne. n - 1 .or. s(2) .ne. n - 2) wrong = wrong + 1
      call MPI_COMM_SET_NAME(MPI_COMM_WORLD, 'all of us   ', ierr)
      name = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'
      call MPI_COMM_GET_NAME(MPI_COMM_WORLD, name, count, ierr)
      if (name .ne. 'all of us' .or. count .ne. 9) wrong = wrong + 1
      call MPI_COMM_GET_NAME(MPI_COMM_WORLD, short, count, ierr)
      if (short .ne. 'all of us') wrong = wrong + 1
      dims(1) = n
      dims(2) = 1
      periods(1) = .true.
      periods(2) = .false.
      call MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, periods, .false.,
     &                     grid, ierr)
      call MPI_CART_SHIFT(grid, 0, 1, i, count, ierr)
      if (i .ne. before .or. count .ne. next) wrong = wrong + 1
      periods(1) = .false.
      periods(2) = .true.
      call MPI_CART_GET(grid, 2, dims, periods, coords, ierr)
      if (.not. periods(1) .or. periods(2)) wrong = wrong + 1
      call MPI_COMM_FREE(grid, ierr)
      if (grid .ne. MPI_COMM_NULL) wrong = wrong + 1
      call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, value, flag,
     &                       ierr)
      if (.not. flag .or. value .lt. 32767) wrong = wrong + 1
      call MPI_ATTR_GET(MPI_COMM_WORLD, MPI_TAG_UB, i, flag, ierr)
      if (.not. flag .or. i .ne. value) wrong = wrong + 1
      call MPI_KEYVAL_CREATE(MPI_DUP_FN, MPI_NULL_DELETE_FN, key, 0,
     &                       ierr)
      call MPI_ATTR_PUT(MPI_COMM_WORLD, key, -5, ierr)
      call MPI_COMM_DUP(MPI_COMM_WORLD, old, ierr)
      call MPI_ATTR_GET(old, key, i, flag, ierr)
      if (.not. flag .or. i .ne. -5) wrong = wrong + 1
      call MPI_COMM_FREE(old, ierr)
      call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN,
     &                             ierr)
      call MPI_SEND(x, -1, MPI_INTEGER, next, 7, MPI_COMM_WORLD, ierr)
      call MPI_ERROR_CLASS(ierr, i, count)
      if (i .ne. MPI_ERR_COUNT) wrong = wrong + 1
      call MPI_ERROR_STRING(ierr, text, count, i)
      if (index_of(text, 'MPI_Send') .eq. 0) wrong = wrong + 1
      call MPI_REGISTER_DATAREP('none', MPI_CONVERSION_FN_NULL,
     &  MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, value, ierr)
      if (ierr .eq. MPI_SUCCESS) wrong = wrong + 1
      call MPI_REDUCE(wrong, count, 1, MPI_INTEGER, MPI_SUM, 0,
     &                MPI_COMM_WORLD, ierr)
      if (rank .eq. 0 .and. count .eq. 0 .and. MPI_WTIME() .ge. t)
     &  print *, 'right'
      if (wrong .ne. 0) print *, 'rank', rank, ':', wrong, 'wrong'
      call MPI_PCONTROL(1)
      call MPI_F_SYNC_REG(wrong)
      call MPI_FINALIZE(ierr)
      contains
      integer function index_of(a, b)
      character*(*) a, b
      intrinsic index
      index_of = find(a, b)
      end function
      integer function find(a, b)
      character*(*) a, b
      integer j
      find = 0
      do j = 1, len(a) - len(b) + 1
        if (find .eq. 0 .and. a(j:j+len(b)-1) .eq. b) find = j
      enddo
      end function
      end
