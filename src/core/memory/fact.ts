/** What is remembered of a user for all later sessions. */
export interface Fact {
  /** Made of the text: the same text has the same id, so that it is remembered once. */
  fact_id: string
  /** One line. */
  content: string
  /** The agent or team that remembered it. */
  agent_id: string
  /** Its run, which may be deleted by now. */
  run_id: string
  created_at: string
}

/** How many facts a user can have. All of them are told to the model. */
export const mostFacts = 100
/** The longest fact, in UTF-16 code units. */
export const longestFact = 300

export type FactSaved = 'saved' | 'known' | 'full' | 'ended'

/** The part of the session store that keeps the facts of users. They are in no copy of a session, and outlive sessions. */
export interface FactStore {
  /** In the order in which they were remembered. */
  listFacts(userId: string): Promise<Fact[]>
  /**
   * `known`: the user has a fact of this id, which stays as it is. `full`: the user has `max` facts. `ended`: the run that
   * remembers is gone or not `running`.
   */
  saveFact(userId: string, fact: Fact, max: number): Promise<FactSaved>
  /** False when it is not there. */
  deleteFact(userId: string, factId: string): Promise<boolean>
  /** Gives how many there were. */
  deleteFacts(userId: string): Promise<number>
}

/** A fact as it is kept: in one line, without control and direction characters. Empty when nothing is left. */
export function factText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, '')
    .trim()
}

/** The memory of a run's user, as entities get it. */
export interface UserMemory {
  list(): Promise<Fact[]>
  /**
   * Durable when it resolves; what is known already comes back as it is. Throws `invalid_request` for a text that is empty or
   * too long, and `conflict` when the user has `mostFacts`.
   */
  remember(text: string): Promise<Fact>
  /** False when there is no such fact. */
  forget(factId: string): Promise<boolean>
}

/** The user of a run, and what is remembered about the user. */
export interface RunUser {
  readonly id: string | null
  /** Oldest first, with what this run has remembered. Empty without a user, and in entities without `memory: { user: true }`. */
  readonly facts: readonly Fact[]
  /**
   * Remembers a fact for all later runs of the user; one that is known comes back as it is. Throws `invalid_request` for a run
   * without a user and for an empty or too long text, `conflict` when the user has the most facts.
   */
  remember(fact: string): Promise<Fact>
  /** False when there is no such fact. */
  forget(factId: string): Promise<boolean>
}
