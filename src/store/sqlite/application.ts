/** `PRAGMA application_id` of each kind of file. */
export const applicationIds = {
  /** "agss" */
  sessions: 0x61677373,
  /** "agkb" */
  knowledge: 0x61676b62,
  /** "agsi" */
  search: 0x61677369,
} as const

/** Lets free pages be returned to the disk in steps. Must run before the first page of a file is written. */
export const newFile = 'PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;'
