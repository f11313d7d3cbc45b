import { expect, it } from 'vitest'
import { findUploadDamage } from '../../support/hostile/uploads.ts'

it('a thousand broken uploads are taken or refused, and leave no file outside the data folder', async () => {
  const { wrong, statuses } = await findUploadDamage(1_000)
  expect(wrong).toEqual([])
  expect(statuses[400]).toBeGreaterThan(50)
  expect((statuses[201] ?? 0) + (statuses[200] ?? 0)).toBeGreaterThan(50)
}, 120_000)
