/** The first load of balances of the recorded chain, by a writer of a test or by a process of its own. */
import type { Failpoint } from '#runtime/runtime.ts'
import { balancesFollower } from '#store/follow/balances/balances.ts'
import { createFollowers } from '#store/follow/followers.ts'
import { readBalances } from './balanceOracle.ts'
import type { ChainStore } from './chainStore.ts'
import { followersOf, recordedCalls, type TestFollowers } from './followers.ts'

export const recording = 'tempo-dev-2k'
export const PIECE_TRANSFERS = 100
const HOT_BLOCKS = 20

/** @param pieceTransfers those of one piece; all of them in one statement where it is undefined */
export function openBalanceLoad(
  store: Pick<ChainStore, 'postgres' | 'schema' | 'chainId'>,
  pieceTransfers: number | undefined,
  failpoint: Failpoint = () => {},
): TestFollowers {
  const callContracts = recordedCalls(recording, readBalances(recording))
  const options = { kind: 'tempo', callContracts } as const
  const tokens = createFollowers({ ...options, chainId: store.chainId }).filter(
    ({ name }) => name === 'tokens',
  )
  const balances = balancesFollower({ ...options, hotBlocks: HOT_BLOCKS, pieceTransfers })
  return followersOf(store, { callContracts, failpoint, followers: [...tokens, balances] })
}
