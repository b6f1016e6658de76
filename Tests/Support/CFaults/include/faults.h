/* Loaded before everything else (LD_PRELOAD), it counts the calls by which a program changes a folder, and lets one of
 * them, or all from one on, fail or be the program's last.
 *
 *     VITRINE_FAULTS_FOLDER   the folder, with all that is in it
 *     VITRINE_FAULTS_FIRST    the first call that is hit, counted from one over all threads; none if it is missing
 *     VITRINE_FAULTS_LAST     the last one; the same as the first if it is missing, 0 for all that follow
 *     VITRINE_FAULTS_ERROR    the error that they return; 0, or missing, for kill -9
 *     VITRINE_FAULTS_LOG      a file to which a line is added for each call: its number, its name, its file
 *
 * A debugger could do the same, but counts for each thread by itself, and threads do not take turns: no number would say
 * which call is meant, and none of them could be said to have been reached.
 */
#ifndef VITRINE_FAULTS_H
#define VITRINE_FAULTS_H

/* Whether the next call named so, on this path, is to fail; then `errno` is set. Does not return where it is the last. */
int vitrine_faults_hit(const char *call, const char *path);

#endif
