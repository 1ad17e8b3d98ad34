/**
 * The recorded dev chain that tests use (`../shared`), as the benches serve it: answers of anvil,
 * word for word.
 */
import { createReadStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import type { CannedBlock } from './cannedChain.ts'

const path = join(import.meta.dirname, '../../shared/chain/recordings/tempo-dev-30k.ndjson.gz')

export const hasRecording = (): boolean => existsSync(path)

export async function* recordedChain(): AsyncGenerator<CannedBlock, void, undefined> {
  for await (const line of createInterface({ input: createReadStream(path).pipe(createGunzip()) })) {
    const { block, receipts } = JSON.parse(line)
    yield { block: JSON.stringify(block), receipts: JSON.stringify(receipts), hash: block.hash }
  }
}
