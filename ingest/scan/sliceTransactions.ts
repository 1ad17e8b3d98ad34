import { ascii, declined, JsonCursor, type Slice } from './jsonCursor.ts'

/** Where a block's transactions stand in its answer. */
export interface TransactionSlices {
  /** The list with its brackets. */
  readonly list: Slice
  readonly items: readonly Slice[]
}

const key = 'transactions'

/**
 * Finds the transactions in the bytes of a block, which are known to be valid JSON. Null when there is no such list, or
 * when it takes a parser to tell.
 */
export function sliceTransactions(source: Buffer): TransactionSlices | null {
  try {
    return slice(new JsonCursor(source))
  } catch (error) {
    if (error === declined) return null
    throw error
  }
}

function slice(cursor: JsonCursor): TransactionSlices | null {
  let found: TransactionSlices | null = null
  cursor.expect(ascii.openObject)
  do {
    const name = cursor.readKey()
    cursor.expect(ascii.colon)
    if (name !== key) cursor.skipValue()
    else if (found === null) found = sliceList(cursor)
    // Of a key that comes twice the last one counts, for a parser.
    else throw declined
  } while (cursor.hasNext(ascii.closeObject))
  return found
}

function sliceList(cursor: JsonCursor): TransactionSlices {
  const start = cursor.at
  const items: Slice[] = []
  cursor.expect(ascii.openList)
  if (cursor.peek() === ascii.closeList) cursor.at++
  else
    do {
      const from = cursor.at
      cursor.skipList(ascii.closeObject)
      items.push({ from, to: cursor.at })
    } while (cursor.hasNext(ascii.closeList))
  return { list: { from: start, to: cursor.at }, items }
}
