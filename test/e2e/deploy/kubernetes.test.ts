import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { drainMs } from '../../../src/cli/dev/serve.ts'
import { startPatienceMs } from '../../../src/server/database/database.ts'
import { knownVariables, milliseconds, parseDockerfile, readDeployed, variablesIn } from '../../support/deploy/files.ts'
import { bin, createProject, environment, serve } from '../../support/program.ts'

const text = readDeployed('kubernetes.yaml')
// biome-ignore lint/suspicious/noExplicitAny: manifests have every shape.
const manifests: any[] = parseAllDocuments(text, { strict: true, uniqueKeys: true }).map((document) => {
  if (document.errors.length > 0) throw document.errors[0]
  return document.toJS()
})
const find = (kind: string) => manifests.find((one) => one.kind === kind)
const deployment = find('Deployment')
const pod = deployment.spec.template.spec
const [container] = pod.containers
const values = Object.fromEntries(
  container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
)

/** How long a probe takes until it says no, at least. */
const failsAfterMs = ({ periodSeconds, failureThreshold }: Record<string, number>) =>
  Number(periodSeconds) * Number(failureThreshold) * 1_000

test('the manifests belong together', () => {
  expect(manifests.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
    'v1 Secret',
    'apps/v1 Deployment',
    'v1 Service',
    'policy/v1 PodDisruptionBudget',
  ])
  const labels = deployment.spec.template.metadata.labels
  const selectors = [
    deployment.spec.selector.matchLabels,
    find('Service').spec.selector,
    find('PodDisruptionBudget').spec.selector.matchLabels,
    ...pod.topologySpreadConstraints.map(
      (one: { labelSelector: { matchLabels: object } }) => one.labelSelector.matchLabels,
    ),
  ]
  for (const selector of selectors) expect(selector).toEqual(labels)
  expect(container.envFrom).toEqual([{ secretRef: { name: find('Secret').metadata.name } }])
  expect(Object.keys(find('Secret').stringData).filter((name) => !knownVariables.has(name))).toEqual([])
  expect(variablesIn(text).filter((name) => !knownVariables.has(name))).toEqual([])
  expect(find('Service').spec.ports[0].targetPort).toBe(container.ports[0].name)
  for (const { name, mountPath } of container.volumeMounts) {
    expect(pod.volumes.map((volume: { name: string }) => volume.name)).toContain(name)
    expect(mountPath).toMatch(/^\/(?:data|tmp)$/)
  }
})

test('the pod is what the image is, and can do little', () => {
  const image = parseDockerfile(readDeployed('Dockerfile'))
  const last = (name: string) => image.filter((one) => one.name === name).at(-1)?.args ?? ''
  const { runAsUser, runAsGroup, runAsNonRoot, fsGroup, seccompProfile } = pod.securityContext
  expect(`${runAsUser}:${runAsGroup}`).toBe(last('USER'))
  expect({ runAsNonRoot, fsGroup, seccompProfile }).toEqual({
    ...{ runAsNonRoot: true, fsGroup: runAsGroup, seccompProfile: { type: 'RuntimeDefault' } },
  })
  expect(container.securityContext).toEqual({
    ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
  })
  expect(pod.automountServiceAccountToken).toBe(false)
  expect(String(container.ports[0].containerPort)).toBe(last('EXPOSE'))
  expect(last('VOLUME')).toBe('/data')
  expect(container.resources.limits.memory).toBeDefined()
})

test('a rollout waits for the start, and gives the drain and the runs their time', () => {
  const { rollingUpdate } = deployment.spec.strategy
  expect(rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 })
  expect(failsAfterMs(container.startupProbe)).toBeGreaterThan(startPatienceMs + 20_000)
  // Within the drain everybody knows.
  expect(failsAfterMs(container.readinessProbe)).toBeLessThan(drainMs)
  expect(failsAfterMs(container.livenessProbe)).toBeGreaterThan(30_000)
  const stopMs =
    container.lifecycle.preStop.sleep.seconds * 1_000 + drainMs + milliseconds(values.AGENTSERVE_STOP_WITHIN)
  expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(stopMs + 10_000)
})

test('the probes answer 200 on a running server, without a key, and the pod has the time of its variables', async () => {
  const project = await createProject()
  onTestFinished(() => project.remove())
  const server = await serve(project, 'start', ['--host', '0.0.0.0'], {
    ...values,
    AGENTSERVE_API_KEYS: 'a-key-of-this-test',
  })
  onTestFinished(async () => {
    await server.kill()
  })
  const { port } = new URL(server.url)
  for (const name of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
    const { path, port: named } = container[name].httpGet
    expect(named).toBe(container.ports[0].name)
    const headers = { host: '10.1.2.3:8080', 'user-agent': 'kube-probe/1.30' }
    expect((await fetch(`http://127.0.0.1:${port}${path}`, { headers })).status, name).toBe(200)
  }
  const wrong = await promisify(execFile)(process.execPath, [bin, 'start'], {
    cwd: project.folder,
    env: { ...environment({}), ...values, AGENTSERVE_STOP_WITHIN: 'soon' },
  }).catch((error) => error)
  expect(wrong).toMatchObject({ stderr: expect.stringContaining('AGENTSERVE_STOP_WITHIN must be a time') })
})
