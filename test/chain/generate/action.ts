/** The shape of everything that happens every day. */
import type { Scene } from './scene.ts'
import type { Transaction } from './transaction.ts'

export interface Action {
  /** How often it occurs, relative to the others. */
  readonly weight: number
  /** Undefined when it does not apply now. */
  readonly build: (scene: Scene) => Transaction | undefined
}
