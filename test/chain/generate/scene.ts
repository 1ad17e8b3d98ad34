/** The scene that actions look at and draw from: the world, chance, and what has happened so far. */
import { Abis } from 'viem/tempo'
import { abiCall, onToken, type TxCall, tokenFactory, unlimited } from '#local/devchain/traffic/calls.ts'
import type { Hex } from '#primitives.ts'
import { type Random, sha256 } from '../random.ts'
import type { Actor } from './actor.ts'
import type { Transaction } from './transaction.ts'
import { type Launch, saltOf, type World } from './world.ts'

/** Unix seconds. */
export interface ChainTime {
  /** Time of the next block. */
  readonly timestamp: number
  /** Time of the newest block. */
  readonly latest: number
}

/** An ERC-20 and those who have some of it; its creator first. */
export interface CoinContract {
  readonly kind: 'Coin' | 'OldCoin'
  readonly address: Hex
  readonly owners: Actor[]
}

export type Deployed = 'Nft' | 'Vault' | 'Factory' | 'Failing' | 'Zoo'

export interface Allowance {
  readonly owner: Actor
  readonly spender: Actor
  readonly token: Hex
}

export class Scene {
  readonly world: World
  readonly random: Random
  readonly time: ChainTime
  /** Open orders and their makers; one of an unknown maker cannot be cancelled. */
  readonly orders = new Map<bigint, Actor | undefined>()
  /** The middle tick of each market, by base token. */
  readonly middles = new Map<Hex, number>()
  readonly coins: CoinContract[] = []
  readonly contracts = new Map<Deployed, Hex>()
  /** The newest allowance given for its own sake. */
  allowance: Allowance | undefined
  /** The policy that freezes some wallets. */
  policy = 0n
  /** Added to the number of each lane, so that a reorg can leave lanes behind. */
  laneBase = 0n
  /** Transactions that follow from earlier ones. */
  readonly queue: Transaction[] = []

  constructor(world: World, random: Random, time: ChainTime) {
    this.world = world
    this.random = random
    this.time = time
  }

  /** A wallet; the first ones act most. */
  wallet(): Actor {
    return this.random.favour(this.world.wallets)
  }

  /** Somebody to pay: mostly wallets, some addresses that never act. */
  recipient(): Hex {
    if (this.random.chance(0.6)) return this.wallet().address
    const holder = this.random.zipf(this.world.holderCount)
    return `0x${sha256(this.world.seed, 'holder', holder).slice(0, 40)}`
  }

  /** A token that an account holds. */
  tokenOf({ holds }: Actor): Hex {
    return this.random.favour(holds)
  }

  /** One of the three most used tokens. */
  commonToken(): Hex {
    return this.random.pick(this.world.tokens.slice(0, 3))
  }

  /** An amount to pay, now and then nothing. */
  amount(): bigint {
    return this.random.chance(0.005) ? 0n : this.random.magnitude(1e4, 2e9)
  }

  approval(from: Actor, token: Hex, spender: Hex, amount = unlimited): TxCall {
    from.approved.add(`${token}:${spender}`)
    return onToken(token, 'approve', spender, amount)
  }

  /** A call, behind an approval if the account has not given it yet. */
  approved(from: Actor, token: Hex, spender: Hex, call: TxCall): TxCall[] {
    return from.approved.has(`${token}:${spender}`) ? [call] : [this.approval(from, token, spender), call]
  }

  /** The creation of a TIP-20 in the next block. */
  creationOf({ name, symbol, currency, quote }: Launch, admin: Hex, label: string | number): TxCall {
    const salt = saltOf(this.world.seed, this.time.timestamp, label)
    const args = [name, symbol, currency, quote, admin, salt] as const
    return abiCall(tokenFactory, Abis.tip20Factory, 'createToken', args)
  }

  /** @throws RangeError before the setup has deployed it. */
  contract(name: Deployed): Hex {
    const address = this.contracts.get(name)
    if (address === undefined) throw new RangeError(`no contract ${name} yet`)
    return address
  }
}
