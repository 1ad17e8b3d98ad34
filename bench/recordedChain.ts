/**
 * The recorded dev chain that tests use, as the benches serve it: answers of anvil, word for word.
 */
import { streamRecording } from '#test/chain/recordings.ts'
import type { CannedBlock } from './cannedChain.ts'

export async function* recordedChain(): AsyncGenerator<CannedBlock, void, undefined> {
  for await (const { block, receipts } of streamRecording('tempo-dev-30k')) {
    const { hash }: { hash: string } = Object(block)
    yield { block: JSON.stringify(block), receipts: JSON.stringify(receipts), hash }
  }
}
