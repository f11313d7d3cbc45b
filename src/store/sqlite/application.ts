/** `PRAGMA application_id` of each kind of file, so that none is mistaken for another. */
export const applicationIds = {
  /** "agss" */
  sessions: 0x61677373,
  /** "agkb" */
  knowledge: 0x61676b62,
  /** "agsi" */
  search: 0x61677369,
} as const

/** Sets up a new file so that its free pages can be returned to the disk in steps. Must run before the first page is written. */
export const newFile = 'PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;'
