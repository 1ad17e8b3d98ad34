// Goal: payloads of the node leave as it wrote them, also what we do not know and what no double
// can hold.
// Method: a written block with such fields, in a real store behind a real server, compared as text.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import type { RpcObject } from '../support/oracle.ts'
import { batchesOf, writtenChain } from '../support/writtenChain.ts'

const odd =
  '"odd":{"wide":18446744073709551616,"price":1.50,"text":"\\u0001 ß \\"q\\"","none":null,"list":[[],{}]}'

describe('payloads', () => {
  let api: ChainApi
  let changed: { readonly block: RpcObject; readonly receipts: readonly RpcObject[] }
  beforeAll(async () => {
    const [genesis, written] = writtenChain('tempo-dev-2k', [[{ from: `0x${'a'.repeat(40)}`, logs: [] }]])
    if (!genesis || !written) throw new Error('no block was written')
    const { wide, price, ...fields } = JSON.parse(`{${odd}}`).odd
    const oddly = {
      odd: { wide: JSON.rawJSON('18446744073709551616'), price: JSON.rawJSON('1.50'), ...fields },
    }
    const withOdd = (of: unknown) => (of as RpcObject[]).map((one) => ({ ...one, ...oddly }))
    const block = written.block as RpcObject
    changed = {
      block: { ...block, transactions: withOdd(block['transactions']), ...oddly },
      receipts: withOdd(written.receipts),
    }
    api = await openChainApi()
    await api.append(batchesOf([genesis, changed]))
  })
  afterAll(() => api.close())

  test.each([
    ['/v1/transactions?include=receipt', 2],
    ['/v1/receipts', 1],
    ['/v1/blocks/1', 1],
  ])('%s has them byte for byte', async (path, times) => {
    const text = await (await fetch(api.server.origin + path)).text()
    expect(text.split(odd).length - 1).toBe(times)
    if (path.includes('receipts')) expect(text).toContain(JSON.stringify(changed.receipts[0]))
    if (path.includes('include')) expect(text).toContain(JSON.stringify(changed.block['transactions'][0]))
  })
})
