/** One figure of a build; smaller is better. */
export interface Figure {
  name: string
  unit: string
  value: number
}

/** Measures one build once, in processes of its own that end with it. */
export interface Benchmark {
  name: string
  /** `build`: the folder of a checkout that has been built. No figures: this build can't do it. */
  measure(build: string): Promise<Figure[]>
}
