import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type Place, testPostgres } from '../postgres/test-postgres.ts'
import { type Instance, type Instances, type InstancesOptions, startInstances } from './instances.ts'

interface Options<Names extends readonly string[]> extends Pick<InstancesOptions, 'config' | 'env'> {
  names: Names
  /** New ones for each test; default: the same for all tests of the block. */
  forEach?: boolean
}

/** Instances on a database of their own for the tests of a block. `use` is called with those that have started. */
export function ownInstances<const Names extends readonly string[]>(
  { names, config, env, forEach = false }: Options<Names>,
  use: (all: { [Place in keyof Names]: Instance }, instances: Instances) => void,
): void {
  let place: Place | undefined
  let instances: Instances | undefined
  const [before, after] = forEach ? [beforeEach, afterEach] : [beforeAll, afterAll]
  before(async () => {
    place = await (await testPostgres()).newDatabase()
    instances = await startInstances({
      url: place.url,
      schema: 'agents',
      names,
      ...(config && { config }),
      ...(env && { env }),
    })
    use(instances.all as { [Place in keyof Names]: Instance }, instances)
  })
  after(async () => {
    await instances?.close()
    await place?.drop()
  })
}
