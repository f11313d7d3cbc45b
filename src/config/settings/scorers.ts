import { z } from 'zod'
import { problemOfScorer } from '../../core/scoring/problem.ts'
import type { Scorer } from '../../core/scoring/scorer.ts'
import { match, mustBe, sound } from '../../schema/field.ts'

const name = match('named by 1 to 60 letters, digits, hyphens or underscores', /^[A-Za-z0-9_-]{1,60}$/)

/** Scorers by name. */
export const scorers = (): z.ZodType<Record<string, Scorer>, Record<string, Scorer>> =>
  z.record(name, sound<Scorer>(problemOfScorer), mustBe('an object with one scorer per name'))
