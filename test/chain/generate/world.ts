/** The world of the generated chain: accounts in their roles, tokens, markets. It follows from the seed. */
import { alphaUsd, betaUsd, pathUsd, tokenAddress } from '#local/devchain/traffic/calls.ts'
import { createDevParties } from '#local/devchain/traffic/parties.ts'
import type { Hex } from '#primitives.ts'
import { itemAt, sha256 } from '../random.ts'
import { Actor, type Signature } from './actor.ts'

/** A TIP-20 to create. */
export interface Launch {
  readonly name: string
  readonly symbol: string
  readonly currency: string
  readonly quote: Hex
}

export interface LaunchedToken extends Launch {
  readonly address: Hex
  readonly salt: Hex
}

export type Pair = readonly [base: Hex, quote: Hex]

export interface World {
  readonly seed: string
  /** The rich accounts of block 0; they hold every token. */
  readonly devs: readonly Actor[]
  /** Creates the tokens and holds every role on them; the first of the rich accounts. */
  readonly issuer: Actor
  readonly makers: readonly Actor[]
  readonly sponsors: readonly Actor[]
  /** Named as miners by blocks. */
  readonly validators: readonly Actor[]
  readonly wallets: readonly Actor[]
  /** Wallets that a policy forbids the use of Initech's token. */
  readonly frozen: readonly Actor[]
  /** Everybody who signs. */
  readonly actors: readonly Actor[]
  readonly byAddress: ReadonlyMap<Hex, Actor>
  /** How many addresses only receive. */
  readonly holderCount: number
  readonly launched: Readonly<Record<keyof typeof launches, LaunchedToken>>
  /** The most used ones first. */
  readonly tokens: readonly Hex[]
  /** Tokens that fees can be paid in: currency USD and a pool to the validators' token. */
  readonly feeTokens: readonly Hex[]
  /** Tokens that the issuer mints and burns. */
  readonly issued: readonly Hex[]
  readonly pairs: readonly Pair[]
}

/** The fourth token of anvil's block 0. */
export const thetaUsd: Hex = '0x20c0000000000000000000000000000000000003'

const launches = {
  acme: { name: 'Acme Dollar', symbol: 'ACME', currency: 'USD', quote: pathUsd },
  globex: { name: 'Globex Dollar', symbol: 'GLBX', currency: 'USD', quote: alphaUsd },
  initech: { name: 'Initech USD', symbol: 'INIT', currency: 'USD', quote: pathUsd },
  namesake: { name: 'Acme Dollar', symbol: 'ACME', currency: 'USD', quote: pathUsd },
  euro: { name: 'Test Euro', symbol: 'EURT', currency: 'EUR', quote: pathUsd },
  pound: { name: 'Test Pound', symbol: 'GBPT', currency: 'GBP', quote: pathUsd },
  snow: {
    ...{ name: 'Snow ☃ <b>bold</b> "it\'s" \\ \u0000 %s', symbol: '☃/🪙', currency: 'XAU' },
    quote: pathUsd,
  },
  long: {
    ...{ name: 'A name of great length '.repeat(12), symbol: 'LONGLONGLONGLONGLONGLONG', currency: 'USD' },
    quote: alphaUsd,
  },
}

const signatures: readonly Signature[] = [...Array<Signature>(5).fill('secp256k1'), 'webAuthn', 'p256']

const DEV_COUNT = 10
const WALLETS_MIN = 24
const WALLETS_MAX = 1_000
const HOLDERS_MIN = 100

/**
 * The world of a seed whose tokens are created at `timestamp`, large enough for so many
 * transactions.
 */
export function createWorld(seed: string, timestamp: number, transactions: number): World {
  const devs = createDevParties(DEV_COUNT).map((party) => new Actor(party))
  const walletCount = Math.min(WALLETS_MAX, Math.max(WALLETS_MIN, Math.floor(transactions / 50)))
  const wallets = Array.from({ length: walletCount }, (_, index) =>
    Actor.seeded(`${seed}/wallet/${index}`, itemAt(signatures, index % signatures.length)),
  )
  const actors = [...devs, ...wallets]
  const issuer = itemAt(devs, 0)
  return {
    ...{ seed, devs, issuer, wallets, actors },
    makers: devs.slice(1, 5),
    sponsors: devs.slice(5, 7),
    validators: devs.slice(7),
    frozen: wallets.slice(-3),
    byAddress: new Map(actors.map((actor) => [actor.address, actor])),
    holderCount: Math.max(HOLDERS_MIN, Math.floor(transactions / 4)),
    ...tokensOf(launchesOf(seed, issuer.address, timestamp)),
  }
}

/** The salt of a token created when the next block has this timestamp. */
export function saltOf(seed: string, timestamp: number, label: string | number): Hex {
  return `0x${sha256(seed, timestamp, label)}`
}

function launchesOf(seed: string, creator: Hex, timestamp: number): World['launched'] {
  let count = 0
  const launch = (token: Launch): LaunchedToken => {
    const salt = saltOf(seed, timestamp, `token ${count++}`)
    return { ...token, salt, address: tokenAddress(creator, salt) }
  }
  return {
    acme: launch(launches.acme),
    globex: launch(launches.globex),
    initech: launch(launches.initech),
    namesake: launch(launches.namesake),
    euro: launch(launches.euro),
    pound: launch(launches.pound),
    snow: launch(launches.snow),
    long: launch(launches.long),
  }
}

function tokensOf(
  launched: World['launched'],
): Pick<World, 'launched' | 'tokens' | 'feeTokens' | 'issued' | 'pairs'> {
  const acme = launched.acme.address
  const globex = launched.globex.address
  const initech = launched.initech.address
  const [euro, pound] = [launched.euro.address, launched.pound.address]
  const [namesake, snow] = [launched.namesake.address, launched.snow.address]
  return {
    launched,
    tokens: [pathUsd, acme, alphaUsd, euro, globex, betaUsd, initech, pound, thetaUsd, namesake, snow],
    feeTokens: [pathUsd, alphaUsd, acme, betaUsd, globex, thetaUsd, initech],
    issued: [acme, globex, initech, euro, pound],
    pairs: [
      [acme, pathUsd],
      [alphaUsd, pathUsd],
      [globex, alphaUsd],
      [betaUsd, pathUsd],
      [initech, pathUsd],
      [thetaUsd, pathUsd],
    ],
  }
}
