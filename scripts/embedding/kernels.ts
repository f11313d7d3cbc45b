/**
 * The arithmetic of training as a WebAssembly module, put together here byte by byte: JavaScript has no access to SIMD.
 * Every sum has a fixed order and no fused multiply-add, so that the same input gives the same bytes on every machine.
 */
export interface Kernels {
  /** The memory of all matrices. */
  readonly memory: { readonly buffer: ArrayBuffer }
  /**
   * C = A · B for packed panels: A in panels of 4 rows, B in panels of 8 columns. All positions in bytes, `depth` is the
   * number of products in a sum, `rows` a multiple of 4, `columns` of 8.
   */
  multiply(a: number, b: number, c: number, cRowBytes: number, depth: number, rows: number, columns: number): void
  /** `length` values, a multiple of 4: to += scale · from. */
  addScaled(to: number, from: number, scale: number, length: number): void
  /** A step of Adam on `length` values, a multiple of 4; empties the gradient. `rate` and `root` have the corrections. */
  adam(value: number, gradient: number, mean: number, square: number, length: number, rate: number, root: number): void
}

const i32 = 0x7f
const f32 = 0x7d
const v128 = 0x7b

const get = (local: number) => [0x20, local]
const set = (local: number) => [0x21, local]
const tee = (local: number) => [0x22, local]
const int = (value: number) => [0x41, ...signed(value)]
const plus = [0x6a]
const times = [0x6c]
const isLess = [0x49]
const simd = (code: number) => [0xfd, ...unsigned(code)]
const load = (offset = 0) => [...simd(0), 2, ...unsigned(offset)]
const store = (offset = 0) => [...simd(11), 2, ...unsigned(offset)]
/** One float in all four lanes. */
const loadSplat = (offset = 0) => [...simd(9), 2, ...unsigned(offset)]
const splat = simd(19)
const add = simd(228)
const subtract = simd(229)
const multiplyLanes = simd(230)
const divide = simd(231)
const squareRoot = simd(227)
const zero = [...simd(12), ...new Array<number>(16).fill(0)]
const constant = (value: number) => [0x43, ...new Uint8Array(Float32Array.of(value).buffer), ...splat]
const increase = (local: number, by: number[]) => [...get(local), ...by, ...plus, ...set(local)]
/** Repeats the body until `counter`, which the body increases, has reached `end`. */
const loop = (counter: number, end: number, body: number[]) => [
  ...[0x03, 0x40, ...body, ...get(counter), ...get(end), ...isLess, 0x0d, 0, 0x0b],
]

/** What is used of it; the types of Node.js leave it to those of browsers. */
const { Memory, Module, Instance } = Reflect.get(globalThis, 'WebAssembly') as {
  Memory: new (size: { initial: number }) => Kernels['memory']
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { exports: object }
}

export function createKernels(bytes: number): Kernels {
  const memory = new Memory({ initial: Math.ceil(bytes / 65536) })
  const module = new Module(assemble([multiplyKernel(), addScaledKernel(), adamKernel()]))
  const instance = new Instance(module, { env: { memory } })
  return { memory, ...instance.exports } as unknown as Kernels
}

interface Kernel {
  name: string
  parameters: number[]
  locals: number[]
  body: number[]
}

function multiplyKernel(): Kernel {
  const [a, b, c, cRow, depth, rows, columns] = [0, 1, 2, 3, 4, 5, 6] as const
  const [row, column, step, aAt, bAt, cAt] = [7, 8, 9, 10, 11, 12] as const
  const [left, right, one] = [13, 14, 15] as const
  const sum = (line: number, half: number) => 16 + line * 2 + half
  const lines = [0, 1, 2, 3]
  const halves = [0, 1]
  const products = lines.flatMap((line) => [
    ...[...get(aAt), ...loadSplat(line * 4), ...set(one)],
    ...[left, right].flatMap((values, half) => [
      ...[...get(sum(line, half)), ...get(one), ...get(values), ...multiplyLanes, ...add, ...set(sum(line, half))],
    ]),
  ])
  const inner = loop(step, depth, [
    ...[...get(bAt), ...load(), ...set(left), ...get(bAt), ...load(16), ...set(right), ...products],
    ...[...increase(aAt, int(16)), ...increase(bAt, int(32)), ...increase(step, int(1))],
  ])
  const panel = [
    ...lines.flatMap((line) => halves.flatMap((half) => [...zero, ...set(sum(line, half))])),
    ...[...get(a), ...set(aAt), ...int(0), ...set(step), ...inner],
    ...[...get(c), ...get(column), ...int(4), ...times, ...plus, ...set(cAt)],
    ...lines.flatMap((line) => [
      ...halves.flatMap((half) => [...get(cAt), ...get(sum(line, half)), ...store(half * 16)]),
      ...increase(cAt, get(cRow)),
    ]),
    ...increase(column, int(8)),
  ]
  const body = loop(row, rows, [
    ...[...int(0), ...set(column), ...get(b), ...set(bAt), ...loop(column, columns, panel)],
    ...[...get(a), ...get(depth), ...int(16), ...times, ...plus, ...set(a)],
    ...[...get(c), ...get(cRow), ...int(4), ...times, ...plus, ...set(c), ...increase(row, int(4))],
  ])
  const locals = [...new Array<number>(6).fill(i32), ...new Array<number>(11).fill(v128)]
  return { name: 'multiply', parameters: [i32, i32, i32, i32, i32, i32, i32], locals, body }
}

function addScaledKernel(): Kernel {
  const [to, from, scale, length, at, scales] = [0, 1, 2, 3, 4, 5] as const
  const body = [
    ...[...get(scale), ...splat, ...set(scales)],
    ...loop(at, length, [
      ...[...get(to), ...get(to), ...load(), ...get(from), ...load(), ...get(scales), ...multiplyLanes, ...add],
      ...[...store(), ...increase(to, int(16)), ...increase(from, int(16)), ...increase(at, int(4))],
    ]),
  ]
  return { name: 'addScaled', parameters: [i32, i32, f32, i32], locals: [i32, v128], body }
}

function adamKernel(): Kernel {
  const [value, gradient, mean, square, length, rate, root, at, slope, first, second] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
  ] as const
  /** keep · old + (1 − keep) · new */
  const average = (place: number, keep: number, fresh: number[], local: number) => [
    ...[...get(place), ...get(place), ...load(), ...constant(keep), ...multiplyLanes],
    ...[...fresh, ...constant(1 - keep), ...multiplyLanes, ...add, ...tee(local), ...store()],
  ]
  const body = loop(at, length, [
    ...[...get(gradient), ...load(), ...set(slope)],
    ...average(mean, 0.9, get(slope), first),
    ...average(square, 0.99, [...get(slope), ...get(slope), ...multiplyLanes], second),
    ...[...get(value), ...get(value), ...load(), ...get(first), ...get(rate), ...splat, ...multiplyLanes],
    ...[...get(second), ...get(root), ...splat, ...multiplyLanes, ...squareRoot, ...constant(1e-8), ...add],
    ...[...divide, ...subtract, ...store(), ...get(gradient), ...zero, ...store()],
    ...[value, gradient, mean, square].flatMap((place) => increase(place, int(16))),
    ...increase(at, int(4)),
  ])
  const locals = [i32, v128, v128, v128]
  return { name: 'adam', parameters: [i32, i32, i32, i32, i32, f32, f32], locals, body }
}

function assemble(kernels: readonly Kernel[]): Uint8Array<ArrayBuffer> {
  const types = kernels.map(({ parameters }) => [0x60, ...sized(parameters), 0])
  const codes = kernels.map(({ locals, body }) => {
    const declared = locals.map((type) => [1, type])
    return sized([...unsigned(declared.length), ...declared.flat(), ...body, 0x0b])
  })
  const exported = kernels.map(({ name }, index) => [...text(name), 0, index])
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, types),
    ...section(2, [[...text('env'), ...text('memory'), 2, 0, 1]]),
    ...section(
      3,
      kernels.map((_, index) => [index]),
    ),
    ...section(7, exported),
    ...section(10, codes),
  ])
}

function section(id: number, items: readonly number[][]): number[] {
  return [id, ...sized([...unsigned(items.length), ...items.flat()])]
}

function sized(bytes: readonly number[]): number[] {
  return [...unsigned(bytes.length), ...bytes]
}

function text(value: string): number[] {
  return sized([...new TextEncoder().encode(value)])
}

function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)]
}

function signed(value: number): number[] {
  const low = value & 127
  const rest = value >> 7
  const isLast = (rest === 0 && low < 64) || (rest === -1 && low >= 64)
  return isLast ? [low] : [low | 128, ...signed(rest)]
}
