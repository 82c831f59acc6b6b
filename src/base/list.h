/* Intrusive lists. The node lies in the structure; the list owns nothing and allocates nothing; no locks. */
#pragma once

#include "base/compiler.h"

struct list_node {
    struct list_node *next, *previous;
};

/* A ring with a head: an empty list points to itself. A node out of any list has next == NULL after list_init_node
 * or list_remove. */
struct list {
    struct list_node head;
};

static inline void list_init(struct list *list) { list->head.next = list->head.previous = &list->head; }
static inline bool list_empty(const struct list *list) { return list->head.next == &list->head; }
static inline void list_node_init(struct list_node *node) { node->next = node->previous = NULL; }
static inline bool list_node_linked(const struct list_node *node) { return node->next != NULL; }

static inline void list_insert_before(struct list_node *place, struct list_node *node)
{
    node->next = place;
    node->previous = place->previous;
    place->previous->next = node;
    place->previous = node;
}

static inline void list_append(struct list *list, struct list_node *node) { list_insert_before(&list->head, node); }
static inline void list_prepend(struct list *list, struct list_node *node)
{
    list_insert_before(list->head.next, node);
}

/* Nobody asks afterwards whether the node is linked. */
static inline void list_unlink(const struct list_node *node)
{
    node->previous->next = node->next;
    node->next->previous = node->previous;
}
static inline void list_remove(struct list_node *node)
{
    list_unlink(node);
    list_node_init(node);
}

/* The same where the node may be in no list; and appends it where it is in none. */
static inline void list_leave(struct list_node *node)
{
    if (list_node_linked(node))
        list_remove(node);
}
static inline void list_enter(struct list *list, struct list_node *node)
{
    if (!list_node_linked(node))
        list_append(list, node);
}

static inline struct list_node *list_first(const struct list *list)
{
    return list_empty(list) ? NULL : list->head.next;
}

static inline struct list_node *list_take_first(struct list *list)
{
    struct list_node *node = list_first(list);
    if (node)
        list_remove(node);
    return node;
}

/* All nodes of FROM, behind those of TO. */
static inline void list_move(struct list *to, struct list *from)
{
    for (struct list_node *node; (node = list_take_first(from));)
        list_append(to, node);
}

/* Takes one node after the other until there is none. The body may change the list. */
#define list_take_each(node, list) for (struct list_node *node; (node = list_take_first(list));)
/* The body may remove NODE, nothing else. */
#define list_for_each(node, list)                                                                                      \
    for (struct list_node *node = (list)->head.next, *node##_next_ = node->next; node != &(list)->head;                \
         node = node##_next_, node##_next_ = node->next)
