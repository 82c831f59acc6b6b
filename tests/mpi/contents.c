/* Envelopes and contents of datatypes, names, elements of a message that ends inside a type. everywhere: 1 2 3 5 8 */
#include "mpi_check.h"

static void envelope(MPI_Datatype type, int integers, int addresses, int types, int combiner)
{
    int a, b, c, d;
    CHECK_OK(MPI_Type_get_envelope(type, &a, &b, &c, &d));
    CHECK_EQUAL(a, integers);
    CHECK_EQUAL(b, addresses);
    CHECK_EQUAL(c, types);
    CHECK_EQUAL(d, combiner);
}

static void contents(void)
{
    MPI_Datatype inner, type, types[3];
    int integers[8];
    MPI_Aint addresses[8];
    envelope(MPI_INT, 0, 0, 0, MPI_COMBINER_NAMED);
    MPI_Type_vector(3, 2, 5, MPI_INT, &inner);
    envelope(inner, 3, 0, 1, MPI_COMBINER_VECTOR);
    CHECK_OK(MPI_Type_get_contents(inner, 3, 0, 1, integers, addresses, types));
    CHECK(integers[0] == 3 && integers[1] == 2 && integers[2] == 5 && types[0] == MPI_INT);
    MPI_Type_create_struct(2, (int[]){4, 1}, (MPI_Aint[]){100, -8}, (MPI_Datatype[]){inner, MPI_CHAR}, &type);
    MPI_Type_free(&inner);
    envelope(type, 3, 2, 2, MPI_COMBINER_STRUCT);
    CHECK_OK(MPI_Type_get_contents(type, 3, 2, 2, integers, addresses, types));
    CHECK(integers[0] == 2 && integers[1] == 4 && integers[2] == 1);
    CHECK(addresses[0] == 100 && addresses[1] == -8 && types[1] == MPI_CHAR);
    envelope(types[0], 3, 0, 1, MPI_COMBINER_VECTOR); /* a good handle, though the first was freed */
    MPI_Type_free(&types[0]);
    MPI_Type_free(&type);
    MPI_Type_create_hvector(2, 1, 77, MPI_DOUBLE, &type);
    envelope(type, 2, 1, 1, MPI_COMBINER_HVECTOR);
    CHECK_OK(MPI_Type_get_contents(type, 2, 1, 1, integers, addresses, types));
    CHECK(integers[0] == 2 && integers[1] == 1 && addresses[0] == 77 && types[0] == MPI_DOUBLE);
    MPI_Type_free(&type);
    MPI_Type_create_resized(MPI_INT, -4, 16, &type);
    envelope(type, 0, 2, 1, MPI_COMBINER_RESIZED);
    CHECK_OK(MPI_Type_get_contents(type, 0, 2, 1, integers, addresses, types));
    CHECK(addresses[0] == -4 && addresses[1] == 16);
    MPI_Type_free(&type);
    MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){2, 3}, (int[]){1, 2}, MPI_ORDER_C, MPI_INT, &type);
    envelope(type, 8, 0, 1, MPI_COMBINER_SUBARRAY);
    CHECK_OK(MPI_Type_get_contents(type, 8, 0, 1, integers, addresses, types));
    for (int i = 0; i < 7; i++)
        CHECK_EQUAL(integers[i], ((int[]){2, 4, 5, 2, 3, 1, 2})[i]);
    CHECK_EQUAL(integers[7], MPI_ORDER_C);
    MPI_Type_free(&type);
}

static int elements_after(MPI_Datatype type, int bytes, int *count)
{
    char out[200] = {0}, in[4000];
    MPI_Status status;
    MPI_Request request;
    int elements = -1;
    MPI_Isend(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request);
    MPI_Recv(in + 2000, 5, type, 0, 1, MPI_COMM_SELF, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Get_elements(&status, type, &elements);
    *count = count_of(&status, type);
    return elements;
}

static void elements(void)
{
    MPI_Datatype type, outer;
    int count;
    /* int, two doubles, short: 22 bytes, 4 elements */
    MPI_Type_create_struct(3, (int[]){1, 2, 1}, (MPI_Aint[]){0, 8, 24}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_SHORT},
                           &type);
    MPI_Type_contiguous(2, type, &outer);
    MPI_Type_commit(&type);
    MPI_Type_commit(&outer);
    CHECK_EQUAL(elements_after(type, 22, &count), 4);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(elements_after(type, 4, &count), 1);
    CHECK_EQUAL(count, MPI_UNDEFINED);
    CHECK_EQUAL(elements_after(type, 12, &count), 2);
    CHECK_EQUAL(elements_after(type, 20, &count), 3);
    CHECK_EQUAL(elements_after(type, 21, &count), MPI_UNDEFINED);
    CHECK_EQUAL(elements_after(type, 66, &count), 12);
    CHECK_EQUAL(count, 3);
    CHECK_EQUAL(elements_after(outer, 22 + 4, &count), 5);
    CHECK_EQUAL(count, MPI_UNDEFINED);
    CHECK_EQUAL(elements_after(outer, 88, &count), 16);
    CHECK_EQUAL(count, 2);
    MPI_Type_free(&type);
    MPI_Type_free(&outer);
}

int main(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Datatype type;
    check_init();
    contents();
    elements();
    CHECK_OK(MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, name, &length)); /* a synonym */
    CHECK_TEXT(name, "MPI_C_COMPLEX");
    CHECK_OK(MPI_Type_get_name(MPI_LONG_LONG, name, &length));
    CHECK_TEXT(name, "MPI_LONG_LONG_INT");
    CHECK_OK(MPI_Type_get_name(MPI_INTEGER16, name, &length)); /* not supported, but known */
    CHECK_TEXT(name, "MPI_INTEGER16");
    MPI_Datatype matched;
    CHECK_OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, sizeof(long double), &matched));
    CHECK_OK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, &matched));
    CHECK(matched == MPI_INTEGER2);
    CHECK_OK(MPI_Type_get_name(MPI_DOUBLE, name, &length));
    CHECK_TEXT(name, "MPI_DOUBLE");
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_get_name(type, name, &length);
    CHECK_TEXT(name, "");
    MPI_Type_set_name(type, "pair");
    MPI_Type_get_name(type, name, &length);
    CHECK_TEXT(name, "pair");
    MPI_Type_free(&type);
    return check_finalize();
}
