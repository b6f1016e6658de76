/* Preloaded with LD_PRELOAD, this counts a program's calls that change a folder. One of them, or all from one on, fail or
 * kill the program.
 *
 *     VITRINE_FAULTS_FOLDER   the folder, including its contents
 *     VITRINE_FAULTS_FIRST    the first affected call, counted from one over all threads and processes; none if
 *                             missing
 *     VITRINE_FAULTS_LAST     the last one; the same as the first if missing, 0 for all that follow
 *     VITRINE_FAULTS_ERROR    the error to return; 0 or missing for kill -9
 *     VITRINE_FAULTS_LOG      a file that all processes map, with a line for each call: its number, its name, its file
 *
 * With VITRINE_FAULTS_CALL, only calls of one name count. This name can also be that of calls that change nothing: `malloc` (of C
 * libraries), `dlopen`, `read-open`, `read`, `readdir`, `recv`, `socket`, `socketpair`, `connect`, `fork`, `thread` and
 * `clock`. Their folder is `/`. With the error -1, `read` and `recv` ask for half the bytes; the error of `clock` is a number
 * of seconds.
 *
 * With VITRINE_FAULTS_NO_TMPFILE, no file system has unnamed files. With VITRINE_FAULTS_FAT, the folder is like one of
 * FAT, which has neither unnamed files nor links, and does not allow some names.
 *
 * A debugger counts calls per thread, and the order of threads varies, so a number would not identify a call.
 */
#ifndef VITRINE_FAULTS_H
#define VITRINE_FAULTS_H

/* Returns whether the next call with this name and path should fail, with `errno` set. Does not return if it should kill
 * the program. */
int vitrine_faults_hit(const char *call, const char *path);

/* Returns whether opening a file for reading should fail, with `errno` set. */
int vitrine_faults_hit_reader(const char *path);

#endif
