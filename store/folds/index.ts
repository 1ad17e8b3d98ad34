/** Everything that follows a chain's blocks with rows of its own, in the order in which it is moved. */
import type { ChainKind } from '#transform/profile.ts'
import type { CallContracts } from './contractCalls.ts'
import { foldFollower } from './foldFollower.ts'
import type { BlockFollower } from './follower.ts'
import { readGenesisTokens } from './genesisTokens.ts'
import { tokensFold } from './tokens.ts'

export interface FollowersOptions {
  readonly kind: ChainKind
  readonly callContracts: CallContracts
}

export function createFollowers({ kind, callContracts }: FollowersOptions): BlockFollower[] {
  return [
    foldFollower(tokensFold, async (context) =>
      kind === 'tempo' ? readGenesisTokens(callContracts, context) : [],
    ),
  ]
}
