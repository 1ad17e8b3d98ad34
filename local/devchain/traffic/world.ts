/**
 * The world of a seed's traffic: parties, tokens, markets and contracts. All addresses follow from the
 * seed, so a restart on the same chain finds everything again without having written anything down.
 */
import { getContractAddress, keccak256, stringToHex } from 'viem'
import type { Hex } from '#primitives.ts'
import { alphaUsd, betaUsd, pathUsd, tokenAddress } from './calls.ts'
import { createDevParties, createWallets, lower, type Party } from './parties.ts'

/** A TIP-20 the setup creates. */
export interface Launch {
  readonly address: Hex
  readonly name: string
  readonly symbol: string
  readonly currency: string
  readonly quote: Hex
  readonly salt: Hex
}

export interface World {
  readonly seed: string
  readonly chainId: number
  /** Creates the tokens and holds every role on them; anvil's account 0. */
  readonly issuer: Party
  readonly makers: readonly Party[]
  readonly sponsors: readonly Party[]
  /** Named as miners by blocks. */
  readonly validators: readonly Party[]
  /** Deploys the contracts, in the order of `contracts`. */
  readonly deployer: Party
  readonly wallets: readonly Party[]
  /** Addresses that only receive. */
  readonly holders: readonly Hex[]
  /** Accounts of the operator, which get money where they have none. */
  readonly gifts: readonly Hex[]
  /** Addresses that the policy of the guarded token forbids its use. */
  readonly frozen: readonly Hex[]
  readonly launches: Launches
  /** Tokens that fees can be paid in: currency USD and a pool to the validators' token. */
  readonly feeTokens: readonly Hex[]
  /** Base and quote of the markets the setup opens. */
  readonly pairs: readonly (readonly [base: Hex, quote: Hex])[]
  readonly contracts: Contracts
  /** The issuer's, whose proof of work (32 bits, TIP-1022) is known. */
  readonly virtualMaster: { readonly salt: Hex; readonly id: Hex }
}

/** By what they are for. */
export interface Launches {
  /** Everyday tokens with markets and fee pools. */
  readonly harbor: Launch
  readonly meridian: Launch
  /** Not dollars: no market, no fees. */
  readonly euro: Launch
  /** Paused, capped and requoted. */
  readonly lever: Launch
  /** Under a blacklist. */
  readonly guarded: Launch
  /** A name that breaks careless software. */
  readonly odd: Launch
}

export interface Contracts {
  readonly coin: Hex
  readonly collectible: Hex
  readonly vault: Hex
  readonly workshop: Hex
  readonly faulty: Hex
  readonly oddLogs: Hex
}

const HOLDER_COUNT = 60

export function createWorld(seed: string, chainId: number, gifts: readonly Hex[] = []): World {
  const [issuer, ...others] = createDevParties(10)
  const deployer = others[8]
  if (!issuer || !deployer) throw new RangeError('anvil has ten accounts')
  const launches = createLaunches(seed, issuer)
  const { harbor, meridian } = launches
  return {
    seed,
    chainId,
    gifts,
    issuer,
    makers: others.slice(0, 3),
    sponsors: others.slice(3, 5),
    validators: others.slice(5, 8),
    deployer,
    wallets: createWallets(seed),
    holders: Array.from({ length: HOLDER_COUNT }, (_, index) => addressOf(`${seed}/holder/${index}`)),
    frozen: [addressOf(`${seed}/frozen/0`), addressOf(`${seed}/frozen/1`)],
    launches,
    feeTokens: [pathUsd, harbor.address, alphaUsd, meridian.address, betaUsd],
    pairs: [
      [harbor.address, pathUsd],
      [alphaUsd, pathUsd],
      [meridian.address, alphaUsd],
      [betaUsd, pathUsd],
    ],
    contracts: contractsOf(deployer.address),
    virtualMaster: { salt: `0x${'abf52baf'.padStart(64, '0')}`, id: masterId(issuer.address) },
  }
}

/** The tokens that a party may pay with in everyday traffic: all wallets hold all of these. */
export function everydayTokens({ launches, feeTokens }: World): readonly Hex[] {
  return [...feeTokens, launches.euro.address, launches.odd.address]
}

function createLaunches(seed: string, issuer: Party): Launches {
  const launch = (name: string, symbol: string, currency: string, quote: Hex): Launch => {
    const salt = keccak256(stringToHex(`${seed}/token/${name}`))
    return { address: tokenAddress(issuer.address, salt), name, symbol, currency, quote, salt }
  }
  return {
    harbor: launch('Harbor Dollar', 'HBR', 'USD', pathUsd),
    meridian: launch('Meridian Dollar', 'MRD', 'USD', alphaUsd),
    euro: launch('Harbor Euro', 'HBRE', 'EUR', pathUsd),
    lever: launch('Lever Dollar', 'LVR', 'USD', pathUsd),
    guarded: launch('Guarded Dollar', 'GRD', 'USD', pathUsd),
    odd: launch('Żółw ☃ "quoted" <i>it\'s</i> \\ %s', '☃/🪙', 'XAU', pathUsd),
  }
}

/** Contracts stand where the deployer's first transactions put them. */
function contractsOf(deployer: Hex): Contracts {
  const at = (nonce: bigint) => lower(getContractAddress({ from: deployer, nonce }))
  return {
    coin: at(0n),
    collectible: at(1n),
    vault: at(2n),
    workshop: at(3n),
    faulty: at(4n),
    oddLogs: at(5n),
  }
}

/** The 4 bytes after the 4 zero bytes of keccak256(master, salt), TIP-1022. */
function masterId(master: Hex): Hex {
  const hash = keccak256(`${master}${'abf52baf'.padStart(64, '0')}`)
  return `0x${hash.slice(10, 18)}`
}

function addressOf(text: string): Hex {
  return `0x${keccak256(stringToHex(text)).slice(26)}`
}
