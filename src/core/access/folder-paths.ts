/* Routes of a command that owns a data folder, for the folder's other commands. */

/** Asks it to let go of the folder. */
export const releasePath = '/.agentserve/release'
/** Has it ingest the sources of its config; answered when that is done. */
export const sourcesPath = '/.agentserve/sources'
