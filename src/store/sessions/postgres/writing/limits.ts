/** Runs of one session that may wait, those of all processes. */
export const maxWaiting = 100
