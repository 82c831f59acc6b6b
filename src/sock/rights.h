/* A process that gives up rights leaves its family: others there may have these rights still, and the family's memory
 * is to be written by nobody who has less. From then on it is a family of its own. */
#ifndef SOCK_RIGHTS_H
#define SOCK_RIGHTS_H

#include "base/compiler.h"

void sock_rights_look(void); /* the users of this process may have changed */

#endif
