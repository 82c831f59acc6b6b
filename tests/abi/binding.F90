! A program in Fortran as it is built for MPICH or Open MPI: sentinels, statuses, callbacks, attributes, logicals, texts.
! BINDING is 1 (mpif.h), 2 (mpi) or 3 (mpi_f08). Two ranks; each says "right", or what is wrong.
#if BINDING == 3
#define USED use mpi_f08
#define COMM type(MPI_Comm)
#define TYPE_ type(MPI_Datatype)
#define OP type(MPI_Op)
#define REQUEST type(MPI_Request)
#define HANDLER type(MPI_Errhandler)
#define INFO type(MPI_Info)
#define STATUS type(MPI_Status)
#define STATUSES(n) type(MPI_Status) :: statuses(n)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define NUMBER(h) h%MPI_VAL
#else
#if BINDING == 2
#define USED use mpi
#else
#define USED
#endif
#define COMM integer
#define TYPE_ integer
#define OP integer
#define REQUEST integer
#define HANDLER integer
#define INFO integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(n) integer :: statuses(MPI_STATUS_SIZE, n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#define NUMBER(h) h
#endif
#if BINDING == 1
#define INCLUDED include 'mpif.h'
#else
#define INCLUDED
#endif

module seen
    implicit none
    integer :: handled = 0, copied = 0, dropped = 0, wrong = 0
contains
    subroutine check(right, what)
        logical, intent(in) :: right
        character(*), intent(in) :: what
        if (.not. right) wrong = wrong + 1
        if (.not. right) print '(2A)', 'wrong: ', what
    end subroutine
end module

#if BINDING == 3
subroutine most(from, to, length, of)
    use, intrinsic :: iso_c_binding
    USED
    implicit none
    type(c_ptr), value :: from, to
    integer :: length
    TYPE_ :: of
    integer, pointer :: a(:), b(:)
    call c_f_pointer(from, a, [length])
    call c_f_pointer(to, b, [length])
    if (of == MPI_INTEGER) b = max(a, b)
end subroutine
#else
subroutine most(a, b, length, of)
    USED
    implicit none
    INCLUDED
    integer :: length, a(length), b(length), of
    if (of == MPI_INTEGER) b = max(a, b)
end subroutine
#endif
subroutine handler(which, code)
    use seen
    USED
    implicit none
    INCLUDED
    COMM :: which
    integer :: code, class
    call MPI_Error_class(code, class, code)
    if (class == MPI_ERR_RANK .and. which == MPI_COMM_SELF) handled = handled + 1
end subroutine
subroutine copies(old, key, extra, from, to, flag, e)
    use seen
    USED
    implicit none
    INCLUDED
    COMM :: old
    integer :: key, e
    integer(kind=MPI_ADDRESS_KIND) :: extra, from, to
    logical :: flag
    to = from + extra
    flag = .true.
    copied = copied + 1
    e = MPI_SUCCESS
end subroutine
subroutine drops(old, key, value, extra, e)
    use seen
    USED
    implicit none
    INCLUDED
    COMM :: old
    integer :: key, e
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    dropped = dropped + int(value)
    e = MPI_SUCCESS
end subroutine

subroutine asked(extra, what, e)
    USED
    implicit none
    INCLUDED
    integer(kind=MPI_ADDRESS_KIND) :: extra
    STATUS :: what
    integer :: e
    SOURCE_OF(what) = int(extra)
    TAG_OF(what) = 4
    call MPI_Status_set_elements(what, MPI_INTEGER, 5, e)
    call MPI_Status_set_cancelled(what, .false., e)
end subroutine
subroutine freed(extra, e)
    USED
    implicit none
    INCLUDED
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: e
    extra = extra + 100
    e = MPI_SUCCESS
end subroutine
subroutine cancelled(extra, complete, e)
    USED
    implicit none
    INCLUDED
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: e
    e = merge(MPI_SUCCESS, MPI_ERR_OTHER, complete)
end subroutine

program binding
    use seen
    USED
    implicit none
    INCLUDED
    integer, parameter :: wide = MPI_ADDRESS_KIND
    integer :: e, rank, ranks, peer, a(12), b(12), n, i, key, length, few(2), sizes(2), places(2)
    integer(wide) :: at(2), value, extra, lb, extent
    logical :: flag, periods(1), coded
    COMM :: made, graph
    TYPE_ :: pair, types(2)
    OP :: op_
    REQUEST :: request, requests(2)
    HANDLER :: handles
    INFO :: hints
    STATUS :: status_
    STATUSES(2)
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: text
    character(len=20) :: name
    integer, external :: c_size, c_ignored
    external :: most, handler, copies, drops, asked, freed, cancelled

    call MPI_Init(e)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, e)
    call MPI_Get_library_version(text, length, e)
    call check(index(text, 'iaduct') > 0, 'the library')
    peer = ranks - 1 - rank

    ! Absolute addresses from MPI_BOTTOM
    a = [(100 * rank + i, i = 1, 12)]
    b = 0
    call MPI_Get_address(a(2), at(1), e)
    call MPI_Get_address(a(7), at(2), e)
    call MPI_Type_create_struct(2, [1, 2], at, [MPI_INTEGER, MPI_INTEGER], pair, e)
    call MPI_Type_commit(pair, e)
    call MPI_Sendrecv(MPI_BOTTOM, 1, pair, peer, 5, b, 3, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status_, e)
    call check(all(b(1:4) == [100 * peer + 2, 100 * peer + 7, 100 * peer + 8, 0]), 'MPI_BOTTOM')
    call MPI_Get_count(status_, MPI_INTEGER, n, e)
    call check(SOURCE_OF(status_) == peer .and. TAG_OF(status_) == 5 .and. n == 3, 'a status')
    call MPI_Type_free(pair, e)
    call check(pair == MPI_DATATYPE_NULL, 'a freed type')

    ! MPI_IN_PLACE, operations
    a(1:2) = [rank, -rank]
    call MPI_Allreduce(MPI_IN_PLACE, a, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
    call check(all(a(1:2) == [ranks * (ranks - 1) / 2, -ranks * (ranks - 1) / 2]), 'MPI_IN_PLACE')
    call MPI_Op_create(most, .true., op_, e)
    call MPI_Allreduce([rank, -rank], b, 2, MPI_INTEGER, op_, MPI_COMM_WORLD, e)
    call check(all(b(1:2) == [ranks - 1, 0]), 'an operation')
    call MPI_Op_free(op_, e)
    types = MPI_INTEGER
    b = -1
    sizes = 1
    places = [0, 4]
    call MPI_Alltoallw([10 * rank, 10 * rank + 1], sizes, places, types, b, sizes, places, types, MPI_COMM_WORLD, e)
    call check(all(b(1:3) == [rank, 10 + rank, -1]), 'MPI_Alltoallw')

    ! Requests and statuses that are ignored
    call MPI_Irecv(b, 1, MPI_INTEGER, peer, 1, MPI_COMM_WORLD, requests(1), e)
    call MPI_Isend(rank, 1, MPI_INTEGER, peer, 1, MPI_COMM_WORLD, requests(2), e)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, e)
    call check(b(1) == peer .and. all([requests(1) == MPI_REQUEST_NULL, requests(2) == MPI_REQUEST_NULL]), 'MPI_Waitall')
    call MPI_Irecv(b, 1, MPI_INTEGER, peer, 2, MPI_COMM_WORLD, requests(2), e)
    requests(1) = MPI_REQUEST_NULL
    call MPI_Send(rank, 1, MPI_INTEGER, peer, 2, MPI_COMM_WORLD, e)
    call MPI_Waitany(2, requests, n, status_, e)
    call check(n == 2 .and. TAG_OF(status_) == 2, 'MPI_Waitany')
    call MPI_Irecv(b, 1, MPI_INTEGER, MPI_PROC_NULL, 2, MPI_COMM_WORLD, request, e)
    call MPI_Wait(request, MPI_STATUS_IGNORE, e)
    call MPI_Recv(b, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
    call MPI_Isend(rank, 1, MPI_INTEGER, peer, 3, MPI_COMM_WORLD, requests(1), e)
    call MPI_Irecv(b, 1, MPI_INTEGER, peer, 3, MPI_COMM_WORLD, requests(2), e)
    few = 0
    n = 0
    do while (n < 2)
        call MPI_Waitsome(2, requests, i, few, statuses, e)
        n = n + i
        call check(all(few(1:i) >= 1 .and. few(1:i) <= 2), 'MPI_Waitsome')
    end do

    ! Callbacks and attributes
    extra = 11
    call MPI_Grequest_start(asked, freed, cancelled, extra, request, e)
    call MPI_Grequest_complete(request, e)
    call MPI_Wait(request, status_, e)
    call MPI_Get_count(status_, MPI_INTEGER, n, e)
    call check(SOURCE_OF(status_) == 11 .and. TAG_OF(status_) == 4 .and. n == 5 .and. extra == 111, 'a generalized request')
    call MPI_Comm_create_errhandler(handler, handles, e)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, handles, e)
    call MPI_Send(rank, 1, MPI_INTEGER, 17, 0, MPI_COMM_SELF, e)
    call check(handled == 1 .and. e /= MPI_SUCCESS, 'an error handler')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, e)
    call check(flag .and. value >= 32767, 'MPI_TAG_UB')
    extra = 5
    call MPI_Comm_create_keyval(copies, drops, key, extra, e)
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, 8_wide, e)
    call MPI_Comm_dup(MPI_COMM_SELF, made, e)
    call MPI_Comm_get_attr(made, key, value, flag, e)
    call check(flag .and. value == 13 .and. copied == 1, 'a copied attribute')
    call check(made /= MPI_COMM_SELF .and. c_size(NUMBER(made)) == 1, 'a handle in C')
    call MPI_Comm_free(made, e)
    call check(dropped == 13 .and. made == MPI_COMM_NULL, 'a deleted attribute')
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra, e)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 4711_wide, e)
    call MPI_Comm_dup(MPI_COMM_WORLD, made, e)
    call MPI_Comm_get_attr(made, key, value, flag, e)
    call check(flag .and. value == 4711, 'MPI_COMM_DUP_FN')

    ! Texts and logicals
    call MPI_Comm_set_name(made, 'short  ', e)
    call MPI_Comm_get_name(made, text, length, e)
    call check(text == 'short' .and. length == 5, 'a name')
    call MPI_Info_create(hints, e)
    call MPI_Info_set(hints, ' key ', 'value', e)
    call MPI_Info_get(hints, 'key', 20, name, flag, e)
    call check(flag .and. name == 'value', 'a hint')
    call MPI_Info_get(hints, 'other', 20, name, flag, e)
    call check(.not. flag, 'no hint')
    call MPI_Cart_create(made, 1, [ranks], [.true.], .false., graph, e)
    call MPI_Cart_get(graph, 1, few, periods, places, e)
    call check(few(1) == ranks .and. periods(1) .and. places(1) == rank, 'a grid')
    call MPI_Cart_shift(graph, 0, 1, few(1), few(2), e)
    call check(all(few == modulo([rank - 1, rank + 1], ranks)), 'neighbours')
    call MPI_Iprobe(peer, 77, MPI_COMM_WORLD, flag, status_, e)
    call check(.not. flag, 'MPI_Iprobe')
    call MPI_Comm_free(graph, e)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [peer], MPI_UNWEIGHTED, 1, [peer], MPI_UNWEIGHTED, MPI_INFO_NULL, &
        .false., graph, e)
    call MPI_Dist_graph_neighbors_count(graph, i, n, coded, e)
    call check(i == 1 .and. n == 1 .and. .not. coded, 'MPI_UNWEIGHTED')

    call MPI_Type_vector(2, 1, 3, MPI_INTEGER, pair, e)
    call MPI_Type_get_extent(pair, lb, extent, e)
    call check(lb == 0 .and. extent == 16, 'an extent')
#if BINDING > 1
    call MPI_Sizeof(extent, n, e) ! (mpif.h of MPICH lacks it)
    call check(n == 8, 'MPI_Sizeof')
#endif
    call check(MPI_Wtime() > 0 .and. MPI_Wtick() > 0, 'MPI_Wtime')
#if BINDING == 1
    call check(c_ignored(MPI_STATUS_IGNORE) == 1, 'MPI_F_STATUS_IGNORE')
#endif

#if BINDING == 3
    a = [(10 * rank + i, i = 1, 12)]
    b = 0
    call MPI_Sendrecv(a(2:12:3), 4, MPI_INTEGER, peer, 0, b(11:2:-3), 4, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(b == [(merge(10 * peer + 13 - i, 0, mod(i, 3) == 2), i = 1, 12)]), 'a section')
    call assumed(a)
#ifdef mpich
    call MPI_Type_size(MPI_INTEGER, extent)
    call check(extent == 4, 'a large count')
    call MPI_Irecv(b(1:12:2), 6_MPI_COUNT_KIND, MPI_INTEGER, peer, 4, MPI_COMM_WORLD, request)
    call MPI_Send(a(1:11:2), 6_MPI_COUNT_KIND, MPI_INTEGER, peer, 4, MPI_COMM_WORLD)
    call MPI_Wait(request, status_)
    call check(all(b(1:12:2) == [(10 * peer + i, i = 1, 11, 2)]), 'a section that is not waited for')
#endif
#else
    call MPI_Type_extent(pair, n, e)
    call check(n == 16, 'MPI_TYPE_EXTENT')
    call MPI_Type_free(pair, e)
    call MPI_Address(a(3), few(1), e)
    call MPI_Address(a(9), few(2), e)
    call MPI_Type_struct(2, [1, 1], few - few(1), types, pair, e)
    call MPI_Type_commit(pair, e)
    call MPI_Type_ub(pair, n, e)
    call check(n == 28, 'MPI_TYPE_UB')
    a = [(i, i = 1, 12)]
    call MPI_Sendrecv(a(3), 1, pair, 0, 0, b, 2, MPI_INTEGER, 0, 0, MPI_COMM_SELF, status_, e)
    call check(all(b(1:2) == [3, 9]), 'MPI_TYPE_STRUCT')
    call MPI_Errhandler_get(MPI_COMM_SELF, handles, e)
    call MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_RETURN, e)
    call MPI_Send(rank, 1, MPI_INTEGER, 17, 0, MPI_COMM_SELF, e)
    call check(handled == 1, 'MPI_ERRHANDLER_SET')
#endif
    call MPI_Barrier(MPI_COMM_WORLD, e)
    call MPI_Finalize(e)
    call check(dropped == 21, 'an attribute of MPI_COMM_SELF')
    if (wrong == 0) print '(A)', 'right'
#if BINDING == 3
contains
    subroutine assumed(x)
        integer, intent(in) :: x(2, *)
        integer :: y(12)
        call MPI_Sendrecv(x, 12, MPI_INTEGER, 0, 0, y, 12, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
        call check(all(y == [(10 * rank + i, i = 1, 12)]), 'an array of assumed size')
    end subroutine
#endif
end program
