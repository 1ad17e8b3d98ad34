/**
 * A chain's followers over a test's store: moved step by step, with the recorded node's own
 * answers.
 */
import { toFunctionSelector } from 'viem'
import type { CallContracts, ContractCall } from '#ingest/rpc/contractCalls.ts'
import type { Hex } from '#primitives.ts'
import { type Clock, type Failpoint, systemRuntime } from '#runtime/runtime.ts'
import { FollowerDriver } from '#store/follow/FollowerDriver.ts'
import type { BlockFollower } from '#store/follow/follower.ts'
import { createFollowers } from '#store/follow/followers.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { silentLogger } from '#telemetry.ts'
import { readCalls } from '../../chain/recordings.ts'
import type { BalanceOracle } from './balanceOracle.ts'
import type { ChainStore } from './chainStore.ts'

export interface TestFollowers {
  readonly driver: FollowerDriver
  readonly followers: readonly BlockFollower[]
  /** Moves every follower until it has nothing to do. */
  settle(): Promise<void>
}

export interface TestFollowersOptions {
  readonly callContracts: CallContracts
  readonly kind?: 'tempo' | 'evm'
  readonly followers?: readonly BlockFollower[]
  /** Names of those that run; all of them unless said otherwise. */
  readonly only?: readonly string[]
  readonly hotBlocks?: number
  readonly checkpointBlocks?: number
  readonly failpoint?: Failpoint
  readonly fence?: bigint
  readonly startBlock?: number
  readonly clock?: Clock
  /** Told after each commit of a follower. */
  readonly moved?: () => void
  readonly stopped?: Set<string>
}

export function followersOf(
  store: Pick<ChainStore, 'postgres' | 'schema' | 'chainId'>,
  options: TestFollowersOptions,
): TestFollowers {
  const { kind = 'tempo', callContracts, failpoint = () => {}, hotBlocks = 4_096 } = options
  const { checkpointBlocks = 16 } = options
  const { chainId } = store
  const all =
    options.followers ?? createFollowers({ kind, chainId, callContracts, hotBlocks, checkpointBlocks })
  const followers = all.filter(({ name }) => options.only?.includes(name) ?? true)
  const driver = new FollowerDriver({
    postgres: store.postgres,
    schema: store.schema,
    startBlock: options.startBlock ?? 0,
    fence: options.fence ?? 1n,
    followers,
    bell: new CommitBell(),
    moved: options.moved ?? (() => {}),
    ...(options.stopped && { stopped: options.stopped }),
    clock: options.clock ?? systemRuntime().clock,
    failpoint,
    log: silentLogger,
  })
  const { signal } = new AbortController()
  const settle = async () => {
    for (const follower of followers) while (await driver.step(follower, signal));
  }
  return { driver, followers, settle }
}

export const balanceOf = toFunctionSelector('balanceOf(address)')
const getPool = toFunctionSelector('getPool(address,address)')
export const totalSupply = toFunctionSelector('totalSupply()')

/** The reserve that genesis of the dev chain gave each pool of each token. */
export const genesisReserve = 10n ** 10n

/**
 * The recorded node. Names and attributes are those of its last block; balances and supplies, which
 * the recording does not have for every block, come from `oracle` at the block asked about.
 */
export function recordedCalls(recording: string, oracle: BalanceOracle): CallContracts {
  const answers = readCalls(recording)
  return async (calls, at) =>
    calls.map(({ to, data }): Hex | null => {
      const block = at === 'latest' ? oracle.lastBlock : oracle.numberOf(at)
      if (block === undefined) return null
      const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`
      // Genesis has a pool between every two of its tokens; of other blocks the recording does not
      // say.
      if (data.startsWith(getPool))
        return block === 0 ? `${word(genesisReserve)}${word(genesisReserve).slice(2)}` : null
      const token = oracle.at(block).get(to)
      if (data.startsWith(balanceOf)) return word(token?.holders.get(`0x${data.slice(-40)}`) ?? 0n)
      if (data.startsWith(totalSupply) && at !== 'latest') return word(token?.supply ?? 0n)
      return answerIn(answers, { to, data })
    })
}

/** The recorded node, of any block what it told at its last one; null for what it was not asked. */
export function recordedNode(recording: string): CallContracts {
  const answers = readCalls(recording)
  return async (calls) => calls.map((call) => answerIn(answers, call))
}

function answerIn(answers: ReturnType<typeof readCalls>, { to, data }: ContractCall): Hex | null {
  const answer = answers[`${to}:${data.slice(0, 10)}`]
  return typeof answer === 'string' ? (answer as Hex) : null
}

/** A node that tells nothing. */
export const silentCalls: CallContracts = async (calls) => calls.map(() => null)
