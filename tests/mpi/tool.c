/* MPI_T: every variable, category and event tells itself; counters count, member by member where they are of a communicator;
 * settings are read, and written when that is possible; events come to callbacks; and what is wrong.
 * ranks: 2 3 tcp: 2 */
#include "mpi_check.h"
#include <stdbool.h>
#include <stdint.h>

#define TEXT 512
#define SLOW_MESSAGES 1000

static void texts_check(const char *name, int name_length, const char *help, int help_length)
{
    CHECK(name_length > 1 && strlen(name) + 1 == (size_t)name_length);
    CHECK(help_length > 1 && strlen(help) + 1 == (size_t)help_length);
}

static void settings_list(void)
{
    char name[TEXT], help[TEXT], value[TEXT];
    int count, number, verbosity, bind, scope;
    MPI_Datatype type;
    MPI_T_enum items;
    MPI_T_cvar_handle handle;
    CHECK_OK(MPI_T_cvar_get_num(&count));
    CHECK(count > 10);
    for (int i = 0; i < count; i++) {
        int name_length = TEXT, help_length = TEXT;
        CHECK_OK(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &items, help, &help_length, &bind, &scope));
        texts_check(name, name_length, help, help_length);
        CHECK_OK(MPI_T_cvar_get_index(name, &number));
        CHECK_EQUAL(number, i);
        CHECK_OK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &number));
        CHECK(number == 1 || (type == MPI_CHAR && number <= TEXT));
        CHECK_OK(MPI_T_cvar_read(handle, value));
        if (items != MPI_T_ENUM_NULL) {
            CHECK_OK(MPI_T_enum_get_info(items, &number, NULL, NULL));
            CHECK_EQUAL(number, 2);
            name_length = TEXT;
            CHECK_OK(MPI_T_enum_get_item(items, 1, &number, name, &name_length));
            CHECK_TEXT(name, "yes");
            CHECK_EQUAL(MPI_T_enum_get_item(items, 2, &number, name, &name_length), MPI_T_ERR_INVALID_ITEM);
        }
        MPI_T_cvar_handle stale = handle;
        CHECK_OK(MPI_T_cvar_handle_free(&handle));
        CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
        CHECK_EQUAL(MPI_T_cvar_read(stale, value), MPI_T_ERR_INVALID_HANDLE);
        CHECK_EQUAL(MPI_T_cvar_handle_free(&stale), MPI_T_ERR_INVALID_HANDLE);
    }
    CHECK_EQUAL(MPI_T_cvar_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQUAL(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQUAL(MPI_T_cvar_get_index("nothing", &number), MPI_T_ERR_INVALID_NAME);
}

static MPI_T_cvar_handle setting_open(const char *name)
{
    MPI_T_cvar_handle handle;
    int index, count;
    CHECK_OK(MPI_T_cvar_get_index(name, &index));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    return handle;
}

/* A text that has grown since its length was told fits into a buffer of that length. */
static void grown_check(void)
{
    MPI_T_cvar_handle read, write;
    char text[3 * TEXT], before[TEXT];
    int index, length;
    CHECK_OK(MPI_T_cvar_get_index("log_file", &index));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &read, &length));
    write = setting_open("log_file");
    CHECK(length <= TEXT);
    CHECK_OK(MPI_T_cvar_read(read, before));
    memset(text, 'x', sizeof text);
    text[2 * TEXT] = 0;
    CHECK_OK(MPI_T_cvar_write(write, text));
    memset(text, 'y', sizeof text);
    CHECK_OK(MPI_T_cvar_read(read, text));
    CHECK_EQUAL(strlen(text), length - 1);
    CHECK(text[0] == 'x' && text[length] == 'y');
    CHECK_OK(MPI_T_cvar_write(write, before));
    CHECK_OK(MPI_T_cvar_handle_free(&read));
    CHECK_OK(MPI_T_cvar_handle_free(&write));
}

static void counters_list(void)
{
    char name[TEXT], help[TEXT];
    int count, number, verbosity, class, bind, readonly, continuous, atomic;
    MPI_Datatype type;
    MPI_T_enum items;
    CHECK_OK(MPI_T_pvar_get_num(&count));
    for (int i = 0; i < count; i++) {
        int name_length = TEXT, help_length = TEXT;
        CHECK_OK(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &items, help, &help_length, &bind,
                                     &readonly, &continuous, &atomic));
        texts_check(name, name_length, help, help_length);
        CHECK(type == MPI_UNSIGNED_LONG_LONG);
        CHECK(class == MPI_T_PVAR_CLASS_COUNTER || class == MPI_T_PVAR_CLASS_LEVEL);
        CHECK_OK(MPI_T_pvar_get_index(name, class, &number));
        CHECK_EQUAL(number, i);
        CHECK_EQUAL(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_TIMER, &number), MPI_T_ERR_INVALID_NAME);
    }
    CHECK_EQUAL(MPI_T_pvar_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                MPI_T_ERR_INVALID_INDEX);
}

#define LISTED 200

/* Of COUNT members of a category that LIST tells: each is one of MOST, told once in all categories, and a list that is
 * too short is filled as far as it goes. */
static void indices_check(int category, int count, int (*list)(int, int, int[]), bool seen[LISTED], int most)
{
    int indices[LISTED + 1], fewer[LISTED + 1];
    for (int i = 0; i <= LISTED; i++)
        indices[i] = fewer[i] = -7;
    CHECK(most <= LISTED);
    CHECK_OK(list(category, LISTED, indices));
    CHECK_EQUAL(indices[count], -7);
    for (int i = 0; i < count; i++) {
        bool right = indices[i] >= 0 && indices[i] < most && !seen[indices[i]];
        CHECK(right);
        if (right)
            seen[indices[i]] = true;
    }
    CHECK_OK(list(category, count - 1, fewer));
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(fewer[i], i < count - 1 ? indices[i] : -7);
    CHECK_OK(list(category, 0, NULL));
    CHECK_EQUAL(list(-1, LISTED, indices), MPI_T_ERR_INVALID_INDEX);
}

/* Each variable and event is in one category. */
static void categories_list(void)
{
    static bool seen[3][LISTED];
    int count, total[3] = {0, 0, 0}, of[3], variables[3], list[100], number;
    MPI_T_cvar_get_num(&variables[0]);
    MPI_T_pvar_get_num(&variables[1]);
    MPI_T_event_get_num(&variables[2]);
    CHECK_OK(MPI_T_category_get_num(&count));
    for (int i = 0; i < count; i++) {
        char name[TEXT], help[TEXT];
        int name_length = TEXT, help_length = TEXT, inner;
        CHECK_OK(MPI_T_category_get_info(i, name, &name_length, help, &help_length, &of[0], &of[1], &inner));
        texts_check(name, name_length, help, help_length);
        CHECK_EQUAL(inner, 0);
        CHECK_OK(MPI_T_category_get_index(name, &number));
        CHECK_EQUAL(number, i);
        CHECK_OK(MPI_T_category_get_num_events(i, &of[2]));
        CHECK(of[0] + of[1] + of[2] > 0);
        indices_check(i, of[0], MPI_T_category_get_cvars, seen[0], variables[0]);
        indices_check(i, of[1], MPI_T_category_get_pvars, seen[1], variables[1]);
        indices_check(i, of[2], MPI_T_category_get_events, seen[2], variables[2]);
        CHECK_OK(MPI_T_category_get_categories(i, 1, list));
        for (int j = 0; j < 3; j++)
            total[j] += of[j];
    }
    for (int j = 0; j < 3; j++)
        CHECK_EQUAL(total[j], variables[j]);
    CHECK_EQUAL(MPI_T_category_get_cvars(count, 1, list), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQUAL(MPI_T_category_get_num_events(count, &number), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQUAL(MPI_T_category_get_categories(-1, 1, list), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQUAL(MPI_T_category_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_OK(MPI_T_category_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQUAL(MPI_T_category_get_index("nothing", &number), MPI_T_ERR_INVALID_NAME);
    CHECK_OK(MPI_T_category_changed(&count));
    CHECK_OK(MPI_T_category_changed(&number)); /* the tables never change */
    CHECK_EQUAL(number, count);
}

static uint64_t value[16];
static void expect(MPI_T_pvar_session session, MPI_T_pvar_handle handle, uint64_t first, uint64_t second)
{
    memset(value, 255, sizeof value);
    CHECK_OK(MPI_T_pvar_read(session, handle, value));
    CHECK_EQUAL(value[0], first);
    CHECK_EQUAL(value[1], second);
}

/* Rank 0 sends to rank 1, in every way. */
static void send_all(MPI_Comm comm)
{
    int data[4] = {0};
    MPI_Request request;
    if (rank == 0) {
        MPI_Send(data, 1, MPI_INT, 1, 0, comm);
        MPI_Isend(data, 2, MPI_INT, 1, 0, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Ssend(data, 3, MPI_INT, 1, 0, comm);
        MPI_Send_init(data, 4, MPI_INT, 1, 0, comm, &request);
        for (int i = 0; i < 2; i++) {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&request);
        MPI_Sendrecv(data, 1, MPI_INT, 1, 0, data, 1, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        for (int i = 0; i < 6; i++)
            MPI_Recv(data, 4, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
        MPI_Send(data, 1, MPI_INT, 0, 0, comm);
    }
}
#define SENT 6
#define SENT_BYTES ((1 + 2 + 3 + 4 + 4 + 1) * sizeof(int))

static void members_check(void)
{
    MPI_T_pvar_session session, other;
    MPI_T_pvar_handle messages, bytes;
    MPI_Comm comm, beside;
    int index, count;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &beside));
    CHECK_OK(MPI_T_pvar_session_create(&session));
    CHECK_OK(MPI_T_pvar_session_create(&other));
    CHECK_OK(MPI_T_pvar_get_index("comm_messages", MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, index, NULL, &messages, &count), MPI_T_ERR_INVALID);
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, &comm, &messages, &count));
    CHECK_EQUAL(count, size);
    CHECK_OK(MPI_T_pvar_get_index("comm_bytes", MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, &comm, &bytes, &count));
    send_all(comm);
    expect(session, messages, 0, 0); /* not started */
    CHECK_OK(MPI_T_pvar_start(session, messages));
    CHECK_OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    send_all(comm);
    send_all(beside);
    expect(session, messages, rank == 1, rank == 0 ? SENT : 0);
    expect(session, bytes, rank == 1 ? sizeof(int) : 0, rank == 0 ? SENT_BYTES : 0);
    CHECK_OK(MPI_T_pvar_stop(session, messages));
    send_all(comm);
    expect(session, messages, rank == 1, rank == 0 ? SENT : 0);
    expect(session, bytes, rank == 1 ? 2 * sizeof(int) : 0, rank == 0 ? 2 * SENT_BYTES : 0);
    CHECK_OK(MPI_T_pvar_reset(session, bytes));
    expect(session, bytes, 0, 0);
    send_all(comm);
    expect(session, bytes, rank == 1 ? sizeof(int) : 0, rank == 0 ? SENT_BYTES : 0);
    CHECK_EQUAL(MPI_T_pvar_read(other, bytes, value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(MPI_T_pvar_readreset(session, bytes, value), MPI_T_ERR_PVAR_NO_ATOMIC);
    CHECK_OK(MPI_Comm_free(&comm)); /* the handle keeps it */
    expect(session, bytes, rank == 1 ? sizeof(int) : 0, rank == 0 ? SENT_BYTES : 0);
    CHECK_OK(MPI_T_pvar_handle_free(session, &messages));
    CHECK(messages == MPI_T_PVAR_HANDLE_NULL);
    MPI_T_pvar_session stale = session;
    CHECK_OK(MPI_T_pvar_session_free(&session));
    CHECK_EQUAL(MPI_T_pvar_session_free(&stale), MPI_T_ERR_INVALID_SESSION);
    CHECK_OK(MPI_T_pvar_session_free(&other));
    CHECK_OK(MPI_Comm_free(&beside));
}

static void counters_check(void)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle received, level;
    int index, count, word = 0;
    uint64_t now;
    CHECK_OK(MPI_T_pvar_session_create(&session));
    CHECK_OK(MPI_T_pvar_get_index("recv_messages", MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &received, &count));
    CHECK_EQUAL(count, 1);
    CHECK_OK(MPI_T_pvar_get_index("unexpected_now", MPI_T_PVAR_CLASS_LEVEL, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &level, &count));
    CHECK_OK(MPI_T_pvar_start(session, received));
    for (int i = 0; i < 5; i++)
        MPI_Sendrecv(&word, 1, MPI_INT, rank, 3, &word, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_OK(MPI_T_pvar_read(session, received, &now));
    CHECK(now >= 5);
    now = 100;
    CHECK_OK(MPI_T_pvar_stop(session, received));
    CHECK_OK(MPI_T_pvar_write(session, received, &now));
    CHECK_OK(MPI_T_pvar_read(session, received, &now));
    CHECK_EQUAL(now, 100);
    CHECK_EQUAL(MPI_T_pvar_start(session, level), MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK_EQUAL(MPI_T_pvar_reset(session, level), MPI_T_ERR_PVAR_NO_WRITE);
    CHECK_EQUAL(MPI_T_pvar_write(session, level, &now), MPI_T_ERR_PVAR_NO_WRITE);
    CHECK_OK(MPI_T_pvar_read(session, level, &now));
    CHECK_OK(MPI_T_pvar_session_free(&session));
}

static int came, freed;
static uint64_t came_bytes;
static int came_rank;
static MPI_T_event_registration registration;
static void on_unexpected(MPI_T_event_instance event, MPI_T_event_registration from, MPI_T_cb_safety safety, void *data)
{
    struct {
        int rank;
        uint64_t bytes;
    } all;
    MPI_Count when = 0, now = 0;
    int source = -1, flag;
    CHECK(from == registration && data == &came);
    CHECK_EQUAL(safety, MPI_T_CB_REQUIRE_NONE);
    CHECK_OK(MPI_T_event_read(event, 0, &came_rank));
    CHECK_OK(MPI_T_event_read(event, 1, &came_bytes));
    CHECK_EQUAL(MPI_T_event_read(event, 2, &all), MPI_T_ERR_INVALID_INDEX);
    CHECK_OK(MPI_T_event_copy(event, &all));
    CHECK(all.rank == came_rank && all.bytes == came_bytes);
    CHECK_OK(MPI_T_event_get_timestamp(event, &when));
    CHECK_OK(MPI_T_event_get_source(event, &source));
    CHECK_OK(MPI_T_source_get_timestamp(source, &now));
    CHECK(when > 0 && when <= now);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); /* it may call MPI */
    if (++came == 2)
        CHECK_OK(MPI_T_event_handle_free(from, &freed, NULL)); /* and remove itself */
}
static MPI_Count dropped;
static void on_dropped(MPI_Count count, MPI_T_event_registration from, int source, MPI_T_cb_safety safety, void *data)
{
    (void)from, (void)source, (void)safety, (void)data;
    dropped += count;
}
static void on_free(MPI_T_event_registration from, MPI_T_cb_safety safety, void *data)
{
    (void)from, (void)safety;
    CHECK(data == &freed);
    freed++;
}

static void unexpected_make(int messages)
{
    int words[3] = {0}, flag;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < messages && rank == 0; i++)
        MPI_Send(words, 3, MPI_INT, 1, 9, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(words, 1, MPI_INT, 1, 10, MPI_COMM_WORLD);
    if (rank == 1) /* all others come in this call */
        MPI_Recv(words, 1, MPI_INT, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < messages && rank == 1; i++) {
        MPI_Probe(0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(words, 3, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Iprobe(0, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* It lasts until all have come; nobody else is told meanwhile. */
static void on_slow(MPI_T_event_instance event, MPI_T_event_registration from, MPI_T_cb_safety safety, void *data)
{
    static bool inside;
    int word;
    (void)event, (void)from, (void)safety;
    CHECK(!inside);
    inside = true;
    if (++*(int *)data == 1)
        MPI_Recv(&word, 1, MPI_INT, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    inside = false;
}

/* A callback that is slow: what comes meanwhile is told later, or counted as dropped. */
static void slow_check(int index)
{
    MPI_T_event_registration slow;
    int words[3] = {0}, told = 0, flag = 0;
    CHECK_OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &slow));
    CHECK_OK(MPI_T_event_register_callback(slow, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &told, on_slow));
    CHECK_OK(MPI_T_event_set_dropped_handler(slow, on_dropped));
    dropped = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < SLOW_MESSAGES && rank == 0; i++)
        MPI_Send(words, 3, MPI_INT, 1, 9, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(words, 1, MPI_INT, 1, 10, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Probe(0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < SLOW_MESSAGES && rank == 1; i++)
        MPI_Recv(words, 3, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iprobe(0, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (rank == 1) {
        CHECK(dropped > 0 && told > 1);
        CHECK(told + dropped == SLOW_MESSAGES || told + dropped == SLOW_MESSAGES + 1); /* the last one is awaited, perhaps */
    }
    CHECK_OK(MPI_T_event_handle_free(slow, NULL, NULL));
}

static void events_check(void)
{
    char name[TEXT], help[TEXT];
    int count, number, verbosity, bind, elements, index;
    MPI_Datatype types[4];
    MPI_Aint displacements[4];
    MPI_T_event_registration many;
    MPI_T_enum items;
    MPI_Info info;
    CHECK_OK(MPI_T_event_get_num(&count));
    for (int i = 0; i < count; i++) {
        int name_length = TEXT, help_length = TEXT;
        elements = 4;
        CHECK_OK(MPI_T_event_get_info(i, name, &name_length, &verbosity, types, displacements, &elements, &items, &info, help,
                                      &help_length, &bind));
        texts_check(name, name_length, help, help_length);
        CHECK(elements >= 1 && types[0] == MPI_INT && displacements[0] == 0);
        CHECK_OK(MPI_Info_free(&info));
        CHECK_OK(MPI_T_event_get_index(name, &number));
        CHECK_EQUAL(number, i);
    }
    CHECK_OK(MPI_T_source_get_num(&count));
    CHECK_EQUAL(count, 1);
    CHECK_OK(MPI_T_event_get_index("unexpected", &index));
    CHECK_OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration));
    CHECK_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &came, on_unexpected));
    CHECK_OK(MPI_T_event_handle_get_info(registration, &info));
    CHECK_OK(MPI_Info_free(&info));
    unexpected_make(5);
    if (rank == 1) {
        CHECK_EQUAL(came, 2);
        CHECK_EQUAL(came_rank, 0);
        CHECK_EQUAL(came_bytes, 3 * sizeof(int));
    } else if (came < 2)
        CHECK_OK(MPI_T_event_handle_free(registration, NULL, NULL));
    CHECK_EQUAL(MPI_T_event_handle_free(registration, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &many));
    CHECK_OK(MPI_T_event_set_dropped_handler(many, on_dropped));
    unexpected_make(1000); /* no call begins at rank 1 while they come */
    if (rank == 1)
        CHECK(dropped > 0);
    CHECK_OK(MPI_T_event_handle_free(many, &freed, on_free));
    CHECK_EQUAL(freed, 1);
    slow_check(index);
}

int main(void)
{
    MPI_T_cvar_handle window, patience;
    int provided, count;
    uint64_t bytes = 0, mine = 3u << 20;
    CHECK_EQUAL(MPI_T_cvar_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE - 5, &provided));
    CHECK_EQUAL(provided, MPI_THREAD_SINGLE);
    CHECK_OK(MPI_T_finalize());
    settings_list();
    grown_check();
    counters_list();
    categories_list();
    window = setting_open("window");
    patience = setting_open("patience");
    CHECK_OK(MPI_T_cvar_write(window, &mine));
    CHECK_OK(MPI_T_cvar_read(window, &bytes));
    CHECK_EQUAL(bytes, mine);
    check_init();
    CHECK_OK(MPI_T_cvar_read(window, &bytes));
    CHECK_EQUAL(bytes, mine);
    CHECK_EQUAL(MPI_T_cvar_write(window, &mine), MPI_T_ERR_CVAR_SET_NOT_NOW);
    bytes = 20000000000u;
    CHECK_OK(MPI_T_cvar_write(patience, &bytes));
    CHECK_OK(MPI_T_cvar_handle_free(&window));
    CHECK_OK(MPI_T_cvar_handle_free(&patience));
    counters_check();
    members_check();
    events_check();
    MPI_Finalize();
    CHECK_OK(MPI_T_cvar_get_num(&count));
    CHECK_OK(MPI_T_finalize());
    CHECK_EQUAL(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQUAL(MPI_T_pvar_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
    return check_done();
}
