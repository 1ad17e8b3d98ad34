import type { Engine } from '#primitives.ts'
import { isRowWise } from '#query/rowWise/rowWise.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'

/** `blocks`: the rows of every block. `snapshot`: the whole result whenever it changed. */
export type LiveMode = 'blocks' | 'snapshot'

/** Different queries that may be live at a time, of up to 64 KiB each. */
const REMEMBERED_MAX = 64

/** How queries are told live; those asked again and again are read once. */
export class LiveModes {
  readonly #known = new BoundedMap<string, LiveMode>({ max: REMEMBERED_MAX })

  /** `snapshot` for what no block alone answers. @throws UserQueryError for what cannot be read */
  async of(engine: Engine, sql: string): Promise<LiveMode> {
    const key = `${engine} ${sql}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const mode = (await isRowWise(engine, sql)) ? 'blocks' : 'snapshot'
    this.#known.set(key, mode)
    return mode
  }
}
