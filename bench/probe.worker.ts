/** Entry of a thread of the bare probe: fetches a range, scans it, and hands over its rows. */
import { parentPort } from 'node:worker_threads'
import { ascii, JsonCursor } from '#ingest/read/json/JsonCursor.ts'
import { sliceRange } from '#transform/decode/sliceRange.ts'
import { ProbeEncoder, type ProbePiece } from './probeEncoder.ts'
import { probeTables } from './probeTables.ts'

export interface ProbeTask {
  readonly from: number
  readonly to: number
  readonly bytes: Uint8Array<ArrayBuffer>
}

const blocks = new ProbeEncoder(probeTables.blocks, ['transactions'])
const transactions = new ProbeEncoder(probeTables.transactions)
const receipts = new ProbeEncoder(probeTables.receipts, ['logs'])
const logs = new ProbeEncoder(probeTables.logs)
const encoders = [blocks, transactions, receipts, logs]

parentPort?.on('message', ({ from, to, bytes }: ProbeTask) => {
  for (const { block, receipts: list } of sliceRange(bytes, { from, to }) ?? []) {
    const cursor = new JsonCursor(block)
    blocks.readRow(cursor, () => readList(cursor, () => transactions.readRow(cursor)))
    const answers = new JsonCursor(list)
    readList(answers, () => receipts.readRow(answers, () => readList(answers, () => logs.readRow(answers))))
  }
  const pieces: ProbePiece[] = encoders.map((encoder) => encoder.take())
  const buffers = pieces.flatMap(({ postgres, clickhouse }) =>
    [postgres, ...clickhouse].map(({ buffer }) => buffer),
  )
  parentPort?.postMessage(pieces, buffers)
})

function readList(cursor: JsonCursor, read: () => void): void {
  cursor.expect(ascii.openList)
  if (cursor.peek() === ascii.closeList) cursor.at++
  else
    do read()
    while (cursor.hasNext(ascii.closeList))
}
