/** Another chain has taken the place of the one that was looked through, under the same id. */
import type { AppDatabase } from '#rows/database.ts'
import { moveToStart } from '#rows/webhooks/chainStart.ts'
import { insertTellings, retractFrom } from '#rows/webhooks/messages.ts'
import { endReplaysOf } from '#rows/webhooks/replays.ts'
import { streams } from '#store/read/pieces.ts'
import { eventTypesOf } from '../events/index.ts'
import { retractionOf } from './tellings.ts'

/** Takes back what was told of the chain, and has it looked through from its first block on. */
export async function beginAgain(
  transaction: AppDatabase,
  chainId: number,
  startBlock: number,
): Promise<void> {
  await endReplaysOf(transaction, chainId)
  const types = streams.flatMap((stream) => eventTypesOf(stream).map(({ type }) => type))
  for await (const sent of retractFrom(transaction, chainId, types, 0))
    await insertTellings(transaction, sent.map(retractionOf))
  await moveToStart(transaction, chainId, startBlock)
}
