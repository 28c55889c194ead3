/* The tensor table, for the other files of this library. */
#ifndef INQUEST_SPANK_RECORDER_TABLE_H
#define INQUEST_SPANK_RECORDER_TABLE_H

/* Forgets the parent's table; called in the child of a fork. */
void inquest_table_reset(void);

#endif
