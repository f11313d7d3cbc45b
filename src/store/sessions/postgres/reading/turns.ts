/** The first (`ASC`) or last turn of a session that fits `which`; a sub-select. */
export const turnOf = (fields: string, session: string, which: string, order: 'ASC' | 'DESC') =>
  `(SELECT ${fields} FROM run AS turn WHERE turn.session_id = ${session} AND turn.parent_run_id IS NULL AND ${which}
    ORDER BY turn.run_number ${order} LIMIT 1)`

/** The last turn of the conversation of a row of `session`. */
export const lastTurn = (fields: string) => turnOf(fields, 'session.session_id', 'turn.replaced_by IS NULL', 'DESC')

/** Whether a turn is part of the conversation as it was when the run number `reach` was the newest. */
export const isReadable = (reach: string) => `turn.run_number <= ${reach} AND (turn.replaced_by IS NULL
  OR (SELECT later.run_number FROM run AS later WHERE later.run_id = turn.replaced_by) > ${reach})`
