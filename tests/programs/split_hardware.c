/* Splits by each kind of resource that this machine has, and unguided: one line for each, by rank 0: the ranks of rank 0's
 * part, or none. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank;

static void split_tell(const char *name, int type, MPI_Info info)
{
    int size = 0, all[64];
    MPI_Comm part;
    MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &part);
    if (part != MPI_COMM_NULL) {
        MPI_Comm_size(part, &size);
        MPI_Comm_free(&part);
    }
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Gather(&size, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank > 0)
        return;
    printf("%s:", name);
    for (int i = 0; i < ranks; i++)
        printf(" %d", all[i]);
    puts("");
}

int main(void)
{
    char key[MPI_MAX_INFO_KEY], value[16];
    int keys, flag;
    MPI_Info has, info;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_hw_resource_info(&has);
    MPI_Info_get_nkeys(has, &keys);
    for (int i = 0; i < keys; i++) {
        MPI_Info_get_nthkey(has, i, key);
        MPI_Info_get(has, key, sizeof value - 1, value, &flag);
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_hw_resource_type", key);
        char name[MPI_MAX_INFO_KEY + 20];
        snprintf(name, sizeof name, "%s=%s", key, value);
        split_tell(name, MPI_COMM_TYPE_HW_GUIDED, info);
        MPI_Info_free(&info);
    }
    MPI_Info_free(&has);
    split_tell("unguided", MPI_COMM_TYPE_HW_UNGUIDED, MPI_INFO_NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_pset_name", "mpi://SELF");
    split_tell("set", MPI_COMM_TYPE_RESOURCE_GUIDED, info);
    MPI_Info_free(&info);
    MPI_Finalize();
}
