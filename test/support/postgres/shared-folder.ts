const variable = 'AGENTSERVE_TEST_SHARED_POSTGRES'

/** What all processes of a run of the tests share of Postgres. Undefined outside of such a run. */
export const sharedFolder = (): string | undefined => process.env[variable]

export function setSharedFolder(folder: string): void {
  process.env[variable] = folder
}
