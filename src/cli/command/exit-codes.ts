export const exit = { ok: 0, failure: 1, usage: 2, interrupted: 130 } as const
