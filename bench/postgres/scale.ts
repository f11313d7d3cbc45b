import type { Times } from '../cell.ts'
import type { Goal } from './report.ts'

/** How long and how often each figure is measured. */
export interface Scale extends Times {
  rounds: number
}

/** A part of the report. */
export interface Part {
  text: string
  goals: Goal[]
}
