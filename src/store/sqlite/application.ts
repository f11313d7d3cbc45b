/** What the files of the database say they are (`PRAGMA application_id`), so that none is taken for another. */
export const applicationIds = {
  /** "agss" */
  sessions: 0x61677373,
  /** "agkb" */
  knowledge: 0x61676b62,
  /** "agsi" */
  search: 0x61677369,
} as const

/** Sets up a new file, whose free pages can then be given back in steps. SQLite takes it only before the first page is there. */
export const newFile = 'PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;'
