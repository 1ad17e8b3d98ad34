/**
 * Everything that follows a chain's blocks with rows of its own, in the order in which it is moved.
 */

import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { ChainKind } from '#transform/profile.ts'
import type { ChainState } from '../ledger/ChainState.ts'
import type { CommitNotices } from '../ledger/CommitNotices.ts'
import type { Postgres } from '../postgres.ts'
import { balancesFollower } from './balances/balances.ts'
import { checkpointsFollower } from './balances/checkpoints.ts'
import { balanceSamplesFollower } from './balances/samples.ts'
import { bookFollower } from './exchange/bookFollower.ts'
import { FollowerDriver } from './FollowerDriver.ts'
import { feePoolsFollower } from './feePools/poolFollower.ts'
import { twoHopsSinceOf } from './feePools/routes.ts'
import { foldFollower } from './foldFollower.ts'
import type { BlockFollower } from './follower.ts'
import { erc20MetadataFollower } from './tokens/erc20Metadata.ts'
import { readGenesisTokens } from './tokens/genesisTokens.ts'
import { tokensFold } from './tokens/tokens.ts'

export interface FollowersOptions {
  readonly kind: ChainKind
  /** Tells its forks, where they are known. */
  readonly chainId: number
  readonly callContracts: CallContracts
  /** Final blocks whose changes of balances are kept. */
  readonly hotBlocks?: number
  /** Blocks between two checkpoints of balances. */
  readonly checkpointBlocks?: number
}

export function createFollowers({
  kind,
  chainId,
  callContracts,
  hotBlocks,
  checkpointBlocks,
}: FollowersOptions): BlockFollower[] {
  return [
    foldFollower(tokensFold, async (context) =>
      kind === 'tempo' ? readGenesisTokens(callContracts, context) : [],
    ),
    feePoolsFollower(kind === 'tempo' ? callContracts : null, twoHopsSinceOf(chainId)),
    bookFollower({ callContracts: kind === 'tempo' ? callContracts : null }),
    balancesFollower({ kind, callContracts, hotBlocks }),
    checkpointsFollower(checkpointBlocks),
    balanceSamplesFollower(callContracts),
    erc20MetadataFollower(kind, callContracts),
  ]
}

export interface OpenFollowersOptions extends Omit<FollowersOptions, 'chainId'> {
  readonly state: ChainState
  readonly postgres: Postgres
  /** Under which this process writes. */
  readonly fence: bigint
  /** To other processes on the same database. */
  readonly notices?: CommitNotices
  readonly runtime: Runtime
  readonly log: Logger
}

/** The driver of a chain's followers; `run` moves them. */
export function openFollowers(options: OpenFollowersOptions): FollowerDriver {
  const { state, postgres, fence, notices, runtime, log } = options
  const { schema, startBlock, bell, stopped } = state
  const { clock, failpoint } = runtime
  const followers = createFollowers({ ...options, chainId: state.chainId })
  const moved = () => {
    state.followed.ring()
    notices?.tellFollowed(schema)
  }
  return new FollowerDriver({
    ...{ postgres, schema, startBlock, fence, followers, bell, moved, stopped },
    ...{ clock, failpoint, log },
  })
}
