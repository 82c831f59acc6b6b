/* Lists: order, removal in the middle of a walk, moving between lists. */
#include "base/list.h"
#include "check.h"

struct item {
    int number;
    struct list_node link;
};

static void expect(const struct list *list, const char *want)
{
    char text[64] = "";
    list_for_each(n, list)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d", container_of(n, struct item, link)->number);
    CHECK_TEXT(text, want);
}

int main(void)
{
    struct list list, other;
    struct item item[10];
    list_init(&list);
    list_init(&other);
    CHECK(list_empty(&list) && list_first(&list) == NULL && list_take_first(&list) == NULL);
    for (int i = 0; i < 10; i++) {
        item[i].number = i;
        list_node_init(&item[i].link);
        CHECK(!list_node_linked(&item[i].link));
    }
    list_append(&list, &item[1].link);
    list_append(&list, &item[2].link);
    list_prepend(&list, &item[0].link);
    list_insert_before(&item[2].link, &item[9].link);
    expect(&list, "0192");
    CHECK(list_node_linked(&item[9].link));
    list_remove(&item[9].link);
    CHECK(!list_node_linked(&item[9].link));
    expect(&list, "012");
    list_leave(&item[9].link); /* it is in none */
    list_enter(&list, &item[0].link); /* it is in one */
    list_enter(&other, &item[9].link);
    expect(&list, "012");
    list_move(&other, &list);
    expect(&list, "");
    expect(&other, "9012");
    list_leave(&item[9].link);
    list_take_each(node, &other)
        list_append(&list, node);
    expect(&list, "012");
    for (int i = 3; i < 9; i++)
        list_append(&list, &item[i].link);
    list_for_each(node, &list)
        if (container_of(node, struct item, link)->number % 2) {
            list_remove(node);
            list_append(&other, node);
        }
    expect(&list, "02468");
    expect(&other, "1357");
    CHECK(list_take_first(&other) == &item[1].link);
    expect(&other, "357");
    while (list_take_first(&list))
        ;
    CHECK(list_empty(&list));
    expect(&list, "");
    return check_done();
}
