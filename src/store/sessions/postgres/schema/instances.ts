/** Whether an instance may begin something, as a condition of its row: also one that has not joined. */
export const mayWrite = 'dead_at IS NULL AND left_at IS NULL'

/** Whether it may go on with what it has begun. One that has not joined has nothing to go on with. */
export const isAlive = `joined_at IS NOT NULL AND ${mayWrite}`

/** The keys of instances that may still go on with what they have begun. */
export const aliveInstances = `(SELECT instance_key FROM instance WHERE ${isAlive})`
