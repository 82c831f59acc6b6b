/* coll/tree: who is above and below whom. Pure arithmetic. */
#include "coll/make.h"

void vcoll_tree(struct coll_tree *tree, int node, int nodes, int radix)
{
    tree->parent = -1;
    tree->children = 0;
    tree->own_span = nodes - node;
    for (int64_t weight = 1; weight < nodes; weight *= radix) {
        int digit = (int)(node / weight % radix);
        if (digit) {
            tree->parent = node - (int)(digit * weight);
            if (tree->own_span > weight)
                tree->own_span = (int)weight;
            return;
        }
        for (int j = 1; j < radix && node + j * weight < nodes; j++) {
            int child = node + (int)(j * weight), rest = nodes - child;
            tree->child[tree->children] = child;
            tree->span[tree->children++] = rest < weight ? rest : (int)weight;
        }
    }
}
