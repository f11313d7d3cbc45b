/*
 * Preloaded into an instance with `--import`: SIGUSR2 sets its wall clock ten minutes ahead, then right, then ten minutes
 * back, then right again. Timers and the monotonic clock go on as they do when an administrator sets the time.
 */

const minutes = [0, 10, 0, -10]
let jumps = 0
const offsetMs = () => (minutes[jumps % minutes.length] ?? 0) * 60_000

const Real = Date
globalThis.Date = new Proxy(Real, {
  construct: (_, given: [], made) =>
    Reflect.construct(Real, given.length === 0 ? [Real.now() + offsetMs()] : given, made),
  apply: () => new Real(Real.now() + offsetMs()).toString(),
  get: (target, name) => (name === 'now' ? () => Real.now() + offsetMs() : Reflect.get(target, name)),
})
process.on('SIGUSR2', () => void jumps++)
