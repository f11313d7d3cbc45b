/** The runs whose events are wanted, and the session whose next ones are. */
export interface Wanted {
  /** Each from after the number given. */
  runs: ReadonlyMap<string, number>
  session: string | undefined
  /** Those that are turns of the session. */
  turns: ReadonlySet<string>
}
