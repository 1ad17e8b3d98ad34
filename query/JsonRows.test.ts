import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonRows } from './JsonRows.ts'
import { readRows } from './result.ts'

/** Bytes in the middle of others, as they come. */
function written(
  bytes: Buffer,
  write: (rows: JsonRows, source: Buffer, start: number, end: number) => void,
): string {
  const rows = new JsonRows()
  rows.beginRow()
  write(rows, Buffer.concat([Buffer.from('<<'), bytes, Buffer.from('>>')]), 2, 2 + bytes.length)
  rows.endRow()
  return rows.take()?.json.toString() ?? ''
}

describe('rows as JSON', () => {
  it('are what JSON.stringify writes, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const bytes = Buffer.from(text)
        const wanted = `${JSON.stringify([bytes.toString()])}\n`
        expect(written(bytes, (rows, source, start, end) => rows.text(source, start, end))).toBe(wanted)
      }),
    )
  })

  it('hold whole numbers of any length', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.boolean(), (value, isQuoted) => {
        const wanted = `${JSON.stringify([isQuoted ? String(value) : value])}\n`
        expect(written(Buffer.of(), (rows) => rows.integer(value, isQuoted))).toBe(wanted)
      }),
    )
  })

  it('hold bytes as hex', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (value) => {
        const bytes = Buffer.from(value)
        const wanted = `["0x${bytes.toString('hex')}"]\n`
        expect(written(bytes, (rows, source, start, end) => rows.hex(source, start, end))).toBe(wanted)
        const digits = Buffer.from(bytes.toString('hex'))
        expect(written(digits, (rows, source, start, end) => rows.digits(source, start, end))).toBe(wanted)
      }),
    )
  })

  it('are read back as the values they were, however many', () => {
    const rows = new JsonRows()
    const values = Array.from({ length: 3_000 }, (_, index) => [
      index,
      'line\nfeed',
      null,
      { key: [`${index}`] },
      true,
    ])
    for (const row of values) {
      rows.beginRow()
      for (const value of row) rows.value(value)
      rows.endRow()
    }
    rows.beginRow()
    rows.value('a row that was not ended')
    const batch = rows.take()
    expect(batch?.count).toBe(3_000)
    expect(batch && readRows(batch)).toEqual(values)
    expect(rows.take()).toBeNull()
  })
})
