/** The version of A2A in which a config was made, and in which its notifications are sent. */
export type PushVersion = '1.0' | '0.3'

/** Where the states of a run are sent to. */
export interface PushConfig {
  run_id: string
  /** Names the config among those of its run. */
  config_id: string
  url: string
  /** Sent along, so that the receiver knows the notification. */
  token: string | null
  /** For the header Authorization. */
  authentication: { scheme: string; credentials: string | null } | null
  version: PushVersion
  created_at: string
}

/** A config as the process has it that sends for it. */
export interface PushDuty extends PushConfig {
  /** Changes with each process that takes the config, and with each change of it. */
  fence: number
  /** Notifications in a row that could not be delivered. */
  failures: number
}

/**
 * The part of the session store that keeps the push configs of runs. A config is deleted with its run, and with the content of
 * its run when a user is erased. It is in no copy of a session.
 */
export interface PushStore {
  /**
   * Takes the place of a config with the same id. `owner` sends for it. `full`: the run has `max` others. `missing`: there is
   * no such run.
   */
  savePushConfig(config: PushConfig, owner: string, max: number): Promise<PushDuty | 'full' | 'missing'>
  /** In the order of their ids. */
  listPushConfigs(runId: string): Promise<PushConfig[]>
  /** False when it is not there. */
  deletePushConfig(runId: string, configId: string): Promise<boolean>
  /** Makes `owner` the sender of all configs of a run, whose state has changed. */
  takePushConfigs(runId: string, owner: string): Promise<PushDuty[]>
  /**
   * Makes `owner` the sender of at most `limit` configs whose newest state may not have been delivered, and whose sender is
   * gone: with a `cluster` an instance that has died or left, else any other.
   */
  adoptPushConfigs(owner: string, limit: number): Promise<PushDuty[]>
  /** Records what has become of a notification. False: the config is another's by now, was changed or deleted. */
  settlePushConfig(duty: PushDuty, outcome: { failures: number; unsent: boolean }): Promise<boolean>
}
