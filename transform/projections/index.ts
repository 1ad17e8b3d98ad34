import type { Projection } from '../projection.ts'

/** Every projection, in the order it runs. */
export const projections: readonly Projection[] = []
