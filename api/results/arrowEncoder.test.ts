import { RecordBatchReader, tableFromIPC } from 'apache-arrow'
import { expect, test } from 'vitest'
import { arrowEncoder } from './arrowEncoder.ts'

const end = { rowCount: 2, truncated: true, elapsedMs: 1, rowsRead: 7, bytesRead: null, digest: 'sha256:00' }

const streamOf = (rows: string): Uint8Array => {
  const horizon = { from: 0, to: 9 }
  const columns = { columns: ['n', 'word', 'raw'], columnTypes: ['int', 'text', 'bytes'] as const }
  const encoder = arrowEncoder({ engine: 'postgres', ...columns, relations: [], horizon })
  const batch = { count: rows.split('\n').length - 1, json: Buffer.from(rows) }
  const head = encoder.head()
  const pieces = batch.count > 0 ? [encoder.rows(batch)] : []
  return Buffer.concat([head, ...pieces, encoder.end(end)])
}

test.each([
  ['two rows', '[1,"one","0x01"]\n[2,null,"0x02"]\n', 2],
  ['no row', '', 0],
])('the last batch of a stream of %s says what was left out, and has none itself', (_, rows, count) => {
  const file = streamOf(rows)
  expect(tableFromIPC(file).numRows).toBe(count)
  const last = [...RecordBatchReader.from(file)].at(-1)
  expect(last?.numRows).toBe(0)
  expect(Object.fromEntries(last?.metadata ?? [])).toEqual({
    ...{ digest: 'sha256:00', truncated: 'true', row_count: '2' },
    ...{ rows_read: '7', bytes_read: 'null' },
  })
})
