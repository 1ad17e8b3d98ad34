import { createClient, http } from 'viem'
import { getChainId } from 'viem/actions'
import { expect, test } from 'vitest'
import { messageOf } from './errors.ts'

test('the text of a failed call of a node names no URL: it may hold a key', async () => {
  const url = 'http://user:word@127.0.0.1:1/v2/a-key'
  const client = createClient({ transport: http(url, { retryCount: 0 }) })
  const error = await getChainId(client).catch((cause: unknown) => cause)
  expect(String(error)).toContain('a-key')
  expect(messageOf(error)).toBe('HTTP request failed.')
})

test('other errors say what they say', () => {
  expect(messageOf(new TypeError('not a number'))).toBe('not a number')
  expect(messageOf('thrown text')).toBe('thrown text')
})
