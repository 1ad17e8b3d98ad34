/** A chain's followers over a test's store: moved step by step, with the recorded node's own answers. */
import { readFileSync } from 'node:fs'
import type { Hex } from '#primitives.ts'
import { type Failpoint, systemRuntime } from '#runtime.ts'
import { CommitBell } from '#store/commits.ts'
import type { CallContracts } from '#store/folds/contractCalls.ts'
import { FollowerDriver } from '#store/folds/driver.ts'
import type { BlockFollower } from '#store/folds/follower.ts'
import { createFollowers } from '#store/folds/index.ts'
import { silentLogger } from '#telemetry.ts'
import { sharedPath } from '../../support/shared.ts'
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
  readonly failpoint?: Failpoint
  readonly fence?: bigint
  readonly startBlock?: number
}

export function followersOf(store: ChainStore, options: TestFollowersOptions): TestFollowers {
  const { kind = 'tempo', callContracts, failpoint = () => {} } = options
  const followers = options.followers ?? createFollowers({ kind, callContracts })
  const driver = new FollowerDriver({
    postgres: store.postgres,
    schema: store.schema,
    startBlock: options.startBlock ?? 0,
    fence: options.fence ?? 1n,
    followers,
    bell: new CommitBell(),
    clock: systemRuntime().clock,
    failpoint,
    log: silentLogger,
  })
  const { signal } = new AbortController()
  const settle = async () => {
    for (const follower of followers) while (await driver.step(follower, signal));
  }
  return { driver, followers, settle }
}

const balanceOf = '0x70a08231'
export const genesisTokens = [0, 1, 2, 3].map((n) => `0x20c${n.toString(16).padStart(37, '0')}`)
const genesisAmount = 2n ** 64n - 1n
/** Accounts of the standard mnemonic, the fee manager, and two deployers of the node's own. */
export const genesisHolders = [
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
  '0xfeec000000000000000000000000000000000000',
  '0x1804c8ab1f12e6bbf3894d4083f33e07309d1f38',
  '0x5615deb798bb3e4dfa0139dfa1b3d433cc23b72f',
]

/** What genesis gave without a log: the same of each of the four tokens to each of these holders. */
export function genesisBalanceOf(token: string, holder: string): bigint {
  return isGenesisToken(token) && genesisHolders.includes(holder) ? genesisAmount : 0n
}

export const isGenesisToken = (token: string): boolean => genesisTokens.includes(token)

export type RecordedAnswers = Readonly<Record<string, unknown>>

/** `<address>:<selector>` to what the node answered at the recording's last block. */
export function recordedAnswers(recording: string): RecordedAnswers {
  return JSON.parse(readFileSync(sharedPath('chain', 'recordings', `${recording}.calls.json`), 'utf8'))
}

/** The recorded node. `balanceAt` answers `balanceOf`, which the recording does not have. */
export function recordedCalls(
  recording: string,
  balanceAt: (token: string, holder: string) => bigint = () => 0n,
): CallContracts {
  const answers = recordedAnswers(recording)
  return async (calls) =>
    calls.map(({ to, data }): Hex | null => {
      if (data.startsWith(balanceOf)) {
        const holder = `0x${data.slice(-40)}`
        return `0x${balanceAt(to, holder).toString(16).padStart(64, '0')}`
      }
      const answer = answers[`${to}:${data.slice(0, 10)}`]
      return typeof answer === 'string' ? (answer as Hex) : null
    })
}
