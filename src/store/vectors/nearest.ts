import type { List } from './lists.ts'

export interface Asked {
  /** In the binary form of the column. */
  query: Buffer
  limit: number
  generations: readonly number[] | undefined
}

interface Statement {
  text: string
  params: readonly unknown[]
}

/** The statements that find the nearest vectors of a list. To be planned for their parameters. */
export function nearestStatements({ table, dimensions }: List, schema: string) {
  const distance = `embedding OPERATOR(${schema}.<=>) $1::${schema}.halfvec(${dimensions})`
  const from = (condition: string) =>
    `SELECT chunk_key AS chunk, generation, ${distance} AS distance FROM ${table} ${condition}`
  const byIndex = `ORDER BY ${distance} LIMIT $2`
  /** An index for a distance is not used for a sum. */
  const byComparing = `ORDER BY (${distance}) + 0, chunk_key LIMIT $2`
  const ofGenerations = 'generation = ANY($3::bigint[])'

  return {
    /** Compares all rows of the generations asked for. */
    compared: ({ query, limit, generations }: Asked): Statement => ({
      text: from(`WHERE ${ofGenerations} ${byComparing}`),
      params: [query, limit, generations],
    }),
    /**
     * Those of an index with the keys up to `upTo`, and what a comparison finds beyond it unless `onlyIndexed`. Right
     * whatever index there is; quick when there is one up to that key or a higher one.
     */
    nearest({ query, limit, generations }: Asked, upTo: number | null, onlyIndexed = false): Statement {
      const params: unknown[] = [query, limit]
      if (generations !== undefined) params.push(generations)
      const filter = generations === undefined ? [] : [ofGenerations]
      const where = (conditions: string[]) => (conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '')
      if (upTo === null) return { text: from(`${where(filter)} ${byIndex}`), params }
      params.push(upTo)
      const key = `$${params.length}::bigint`
      const indexed = from(`${where([...filter, `chunk_key <= ${key}`])} ${byIndex}`)
      if (onlyIndexed) return { text: indexed, params }
      const beyond = from(`${where([...filter, `chunk_key > ${key}`])} ${byComparing}`)
      return { text: `(${indexed}) UNION ALL (${beyond}) ORDER BY distance, chunk LIMIT $2`, params }
    },
  }
}
