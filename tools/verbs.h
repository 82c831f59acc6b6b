/* The verbs of the program `viaduct`. Each takes its own arguments, argv[0] being the verb as the user wrote it, and
 * returns the exit status. */
#ifndef TOOLS_VERBS_H
#define TOOLS_VERBS_H

int verb_run(int argc, char **argv);
int verb_helper(int argc, char **argv);
int verb_doctor(int argc, char **argv);
int verb_examine(int argc, char **argv); /* the launcher on another host */
int verb_info(int argc, char **argv);

#endif
