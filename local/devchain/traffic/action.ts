/** The shape of everything that happens in the traffic. */
import type { Hex } from '#primitives.ts'
import type { TxCall } from './calls.ts'
import type { Dice } from './Dice.ts'
import type { Learned } from './learned.ts'
import type { Party } from './parties.ts'
import type { Envelope } from './signDraft.ts'
import type { World } from './world.ts'

/** The view that an action has of the chain. */
export interface Scene {
  readonly world: World
  readonly dice: Dice
  readonly learned: Learned
  /** Unix seconds of the block to come. */
  readonly timestamp: number
}

/** Somebody's wish; envelope, fee token and nonce lane are chosen later if it leaves them open. */
export interface Intent {
  readonly from: Party
  readonly calls: readonly [TxCall, ...TxCall[]]
  /** 1,500,000 when absent. */
  readonly gas?: bigint
  readonly envelope?: Envelope
  readonly delegate?: Hex
}

/** One kind of transaction. */
export interface Action {
  readonly kind: string
  /** How often it occurs in a deck of about 150. */
  readonly weight: number
  /** Undefined when there is nothing to act on now. */
  readonly build: (scene: Scene) => Intent | undefined
}

/** Whole tokens in base units: every TIP-20 has 6 decimals. */
export function units(tokens: number): bigint {
  return BigInt(tokens) * 1_000_000n
}

/** A wallet; the first ones act most. */
export function someWallet({ world, dice }: Scene): Party {
  return dice.favour(world.wallets)
}

/** Somebody to pay: mostly wallets, some addresses that never act. */
export function someRecipient({ world, dice }: Scene): Hex {
  return dice.chance(0.6) ? dice.favour(world.wallets).address : dice.favour(world.holders)
}
